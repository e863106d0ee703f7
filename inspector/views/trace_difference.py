"""Draws the difference of two traces: copied bytes, calls and time, before and after."""

# SPDX-License-Identifier: MIT
from inspector.facts.trace_difference import CallChange, LineChange, TraceDifference
from inspector.facts.unknown import Unknown
from inspector.views.amounts import size
from inspector.views.grammar import Block, Fold, Line, Span, Table, text
from inspector.views.plain import clipped
from inspector.views.statements import LEAST_SOURCE
from inspector.views.view import blocks

PAGE = "docs/reference/traces.md#two-traces"
SHOWN = 12
CALLS_SHOWN = 3
"""Beside lines, which say what the calls did."""
MOST_SOURCE = 30


@blocks.register
def of_difference(fact: TraceDifference) -> tuple[Block, ...]:
    """The lines that changed, the totals, then a row for each changed call."""
    more = fact.lines_copied_after - fact.lines_copied_before
    style = "warn" if more > 0 else "good" if more < 0 else "fact"
    said = f"{size(fact.lines_copied_before)} → {size(fact.lines_copied_after)}"
    time = f"{fact.wall_ns_before / 1e6:.1f} → {fact.wall_ns_after / 1e6:.1f} ms"
    copied = Line("copied", text(said, style), text(time, "dim"), link=PAGE)
    table = Table(("", "", "", ""), tuple(map(_line, fact.lines)), (0, 3), yielding=(1, LEAST_SOURCE))
    head = Fold(copied, (table,), SHOWN) if fact.lines else copied
    events = Line("events", text(f"{fact.events_before:,} → {fact.events_after:,}"), link=PAGE)
    if not fact.changes:
        return (head, events, Line("calls", text(f"all {fact.same:,} as before"), link=PAGE))
    table = Table(("call", "calls", "copied", "time"), tuple(map(_row, fact.changes)), (1, 2, 3))
    summary = Line("calls", text(f"{len(fact.changes):,} changed, {fact.same:,} as before"), link=PAGE)
    return (head, events, Fold(summary, (table,), CALLS_SHOWN if fact.lines else SHOWN))


def _line(row: LineChange) -> tuple[tuple[Span, ...], ...]:
    """What a line is now, and what it was."""
    copied = row.copied_bytes_before, row.copied_bytes_after
    style = "warn" if copied[1] > copied[0] else "good" if copied[1] < copied[0] else "dim"
    was = row.verdict_before if row.text_before else "new line"
    now = row.verdict_after if row.text_after else "gone"
    return (
        text(str(row.line), "dim"),
        text(clipped(row.text_after or row.text_before, MOST_SOURCE), "python"),
        text(_pair(was, now)),
        text(_pair(size(copied[0]), size(copied[1])), style),
    )


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
