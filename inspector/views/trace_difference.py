"""Draws the difference of two traces: copied bytes, calls and time, before and after."""

# SPDX-License-Identifier: MIT
from inspector.facts.trace_difference import CallChange, TraceDifference
from inspector.facts.unknown import Unknown
from inspector.views.amounts import size
from inspector.views.grammar import Block, Fold, Line, Span, Table, text
from inspector.views.view import blocks

PAGE = "docs/reference/traces.md#two-traces"
SHOWN = 12


@blocks.register
def of_difference(fact: TraceDifference) -> tuple[Block, ...]:
    """The totals, then a row for each changed call."""
    more = fact.copied_bytes_after - fact.copied_bytes_before
    style = "warn" if more > 0 else "good" if more < 0 else "fact"
    said = f"{size(fact.copied_bytes_before)} → {size(fact.copied_bytes_after)}"
    time = f"{fact.wall_ns_before / 1e6:.1f} → {fact.wall_ns_after / 1e6:.1f} ms"
    head = Line("copied", text(said, style), text(time, "dim"), link=PAGE)
    events = Line("events", text(f"{fact.events_before:,} → {fact.events_after:,}"), link=PAGE)
    if not fact.changes:
        return (head, events, Line("calls", text(f"all {fact.same:,} as before"), link=PAGE))
    table = Table(("call", "calls", "copied", "time"), tuple(map(_row, fact.changes)), (1, 2, 3))
    summary = Line("calls", text(f"{len(fact.changes):,} changed, {fact.same:,} as before"), link=PAGE)
    return (head, events, Fold(summary, (table,), SHOWN))


def _row(row: CallChange) -> tuple[tuple[Span, ...], ...]:
    copied = row.copied_bytes_before, row.copied_bytes_after
    style = "warn" if copied[1] > copied[0] else "good" if copied[1] < copied[0] else "dim"
    return (
        (Span(row.function, "native"),),
        text(_pair(f"{row.calls_before:,}", f"{row.calls_after:,}")),
        text(_pair(size(copied[0]), size(copied[1])) if any(copied) else "", style),
        text(_pair(_time(row.ns_before), _time(row.ns_after)), "dim"),
    )


def _pair(before: str, after: str) -> str:
    return before if before == after else f"{before} → {after}"


def _time(ns: int | Unknown) -> str:
    return "?" if isinstance(ns, Unknown) else f"{ns / 1e6:.1f} ms"
