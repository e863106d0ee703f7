"""Draws what would happen: one line per library, and under it why it copies and what it would lose."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator

from inspector.facts.preview import Prediction, Preview, Previews
from inspector.facts.unknown import Unknown
from inspector.views.amounts import size
from inspector.views.grammar import Block, Line, Span, text
from inspector.views.view import blocks

PAGE = "docs/reference/traces.md#what-would-happen"


@blocks.register
def of_previews(fact: Previews) -> tuple[Block, ...]:
    """One line per library, the details under it."""
    return tuple(line for row in fact.rows for line in _row(row))


def _row(row: Preview) -> Iterator[Line]:
    found = "" if row.found == "tried" else row.found
    yield Line(
        row.consumer,
        (*_verdict(row), Span(f"  {row.function}", "dim")),
        text(found, "dim"),
        explain="The real conversion ran in a forked child; this process is unchanged.",
        link=PAGE,
    )
    why = row.reason or (str(row.copies) if isinstance(row.copies, Unknown) else "")
    for label, said, style in (
        ("why", why, "dim"),
        ("avoid", row.avoid, "dim"),
        ("known", row.catalogue if found else "", "dim"),
        ("tried", _not_tried(row), "dim"),
        ("state", row.materializes and f"it becomes {row.materializes}", "warn"),
        ("loses", _lost(row), "danger"),
    ):
        if said:
            yield Line("", (Span(f"{label:<7}", "dim"), Span(said, style)))


def _verdict(row: Preview) -> tuple[Span, ...]:
    if row.fails:
        return text("fails", "danger")
    if isinstance(row.copies, Unknown):
        return text("?", "dim")
    if not row.copies:
        return text("shares the memory", "good")
    amount = "" if isinstance(row.copied_bytes, Unknown) else f" {size(row.copied_bytes)}"
    return text(f"copies{amount}", "warn")


def _not_tried(row: Preview) -> str:
    """Why the conversion was not tried: the library may be missing."""
    why = row.losses.reason if isinstance(row.losses, Unknown) and row.found == "by rule" else ""
    return f"no: {why.removeprefix('not tried: ')}" if why.startswith("not tried: ") else ""


def _lost(row: Preview) -> str:
    if isinstance(row.losses, Unknown) or isinstance(row.loses, Unknown) or not row.losses:
        return ""
    more = row.losses - len(row.loses)
    return ", ".join(row.loses) + (f" and {more:,} more" if more else "")


@blocks.register
def of_prediction(fact: Prediction) -> tuple[Block, ...]:
    """What it copies, and the object's new state."""
    return tuple(_predicted(fact))


def _predicted(fact: Prediction) -> Iterator[Line]:
    head = text(fact.expression, "python")
    if isinstance(fact.copies, Unknown):
        yield Line("after", (*head, Span(f"  {fact.copies}", "dim")), link=PAGE)
        return
    total = sum(copy.copied_bytes for copy in fact.copies)
    said = Span(f"  would copy {size(total)}", "warn") if total else Span("  would copy nothing", "good")
    time = "" if isinstance(fact.wall_ns, Unknown) else f"{fact.wall_ns / 1e6:.1f} ms in the child"
    yield Line("after", (*head, said), text(time, "dim"), link=PAGE)
    for copy in fact.copies:
        yield Line(
            size(copy.copied_bytes),
            (Span(copy.function, "native"), Span(f"  {copy.source} → {copy.result}", "dim")),
        )
        yield Line("", text(f"why    {copy.reason}", "dim"))
        if copy.avoid:
            yield Line("", text(f"avoid  {copy.avoid}", "dim"))
    if fact.materializes:
        yield Line("state", text(f"it becomes {fact.materializes}", "warn"))
    if fact.fails:
        yield Line("fails", text(fact.fails, "danger"))
