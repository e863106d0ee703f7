"""Draws the C-API calls of a host, one line per call, in order; faulty calls come first, in red."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator

from inspector.facts.amounts import counted
from inspector.facts.hosted import HostCall, Hosted
from inspector.facts.unknown import Unknown
from inspector.views.grammar import Block, Fold, Line, Span, Table, text
from inspector.views.plain import clipped
from inspector.views.view import blocks

PAGE = "docs/reference/traces.md#what-a-host-asks"
AILS_SHOWN, CALLS_SHOWN = 12, 24
STEP = "  "
NAME_CELLS, SHOWN_CELLS = 26, 18
MOST_LINES, EVERY_LINE, MOST_SOURCE = 10, 1_000, 30
COUNTS = {"Py_IncRef", "Py_DecRef", "PyErr_Occurred"}
"""Calls that say nothing of a line that makes others."""


@blocks.register
def of_hosted(fact: Hosted) -> tuple[Block, ...]:
    """Two folds: calls that failed, lost a value or had no GIL; and all calls."""
    return tuple(_folds(fact)) if fact.hosts else ()


def _folds(fact: Hosted) -> Iterator[Block]:
    faulty = tuple(_line(call, 0) for call in fact.calls if _ails(call))
    if faulty:
        yield Fold(Line("host", text(_summary(fact), "danger"), link=PAGE), faulty, AILS_SHOWN)
    yield from own_lines(fact, EVERY_LINE)
    left_out = f", {fact.calls_left_out:,} of the middle not shown" if fact.calls_left_out else ""
    said = f"{' and '.join(fact.hosts)} called Python {fact.asked:,} times{left_out}"
    rows = tuple(_line(call, call.depth) for call in fact.calls)
    yield Fold(Line("" if faulty else "host", text(said), link=PAGE), rows, CALLS_SHOWN)


def own_lines(fact: Hosted, most: int) -> Iterator[Block]:
    """The host's own lines in order: how often each called, and what was lost or went wrong.

    Of more than `most` those with a fault, then those that called most.
    """
    found: dict[tuple[str, int], list[HostCall]] = {}
    for call in fact.calls:
        if not isinstance(call.site, Unknown):
            found.setdefault((call.site.file, call.site.line), []).append(call)
    known = {(path, line): count for path, line, count in fact.own_lines if (path, line) in found}
    chosen = sorted(known, key=lambda one: (*_worst(found[one]), known[one]), reverse=True)[:most]
    for path in dict.fromkeys(file for file, _ in sorted(chosen)):
        yield Line("", text(path.rpartition("/")[2], "code"), link=PAGE)
        places = [place for place in sorted(chosen) if place[0] == path]
        yield Table(("", "", "", ""), tuple(_row(found[one], known[one]) for one in places), (0, 2))
    if left := len(fact.own_lines) - len(chosen):
        yield Line("", text(f"… {left:,} more lines (--all)", "dim"))


def _worst(calls: list[HostCall]) -> tuple[bool, bool]:
    """Whether something went wrong in a line; whether a conversion was refused."""
    return any(map(_ails, calls)), any(call.refused for call in calls)


def _ails(call: HostCall) -> bool:
    return bool(call.lost) or call.without_gil or _hangs(call)


def _row(calls: list[HostCall], times: int) -> tuple[tuple[Span, ...], ...]:
    site = calls[0].site
    assert not isinstance(site, Unknown)
    ails = (f"LOST  {call.lost}" if call.lost else _fault(call) for call in calls if _ails(call))
    faults, names = dict.fromkeys(ails), dict.fromkeys(call.function for call in calls)
    names = dict.fromkeys(name for name in names if name not in COUNTS) or names
    refused = dict.fromkeys(f"refused: {call.refused}" for call in calls if call.refused)
    told = text("; ".join(faults), "danger") if faults else text(", ".join(refused or names), "dim")
    source = text(clipped(site.text, MOST_SOURCE), "python")
    return (text(str(site.line), "dim"), source, text(counted(times, "call")), told)


def _hangs(call: HostCall) -> bool:
    """Whether the call set an exception that the host did not clear."""
    return call.failed and not call.cleared


def _summary(fact: Hosted) -> str:
    counts = (
        (sum(call.times for call in fact.calls if call.without_gil), "without the GIL"),
        (sum(call.times for call in fact.calls if call.lost), "lost a value"),
        (sum(call.times for call in fact.calls if _hangs(call)), "failed and left the error set"),
    )
    return ", ".join(
        f"{count:,} {'calls' if count > 1 else 'call'} {what}" for count, what in counts if count
    )


def _line(call: HostCall, depth: int) -> Line:
    times = f" ×{call.times:,}" if call.times > 1 else ""
    name = f"{STEP * min(depth, 6)}{call.function}{times}"
    kind = "" if isinstance(call.object_type, Unknown) else call.object_type
    shown = " ".join(filter(None, (kind, ", ".join(call.values))))
    return Line(
        "",
        (
            Span(f"{name:{NAME_CELLS}}", "native"),
            Span(f"  {shown:{SHOWN_CELLS}}"),
            Span(f"  {said}" if (said := _references(call)) else "", "dim"),
            Span(f"  {fault}" if (fault := _fault(call)) else "", "danger" if not call.cleared else "dim"),
        ),
    )


def _references(call: HostCall) -> str:
    """ "refs 2 → 3"; one number if it does not change, "" if it is unknown."""
    before, after = call.references, call.references_after
    if isinstance(before, Unknown):
        return ""
    if isinstance(after, Unknown):
        return f"refs {before}"
    if not after:
        return f"refs {before} → 0, freed"
    return f"refs {before} → {after}" if after != before else f"refs {before}"


def _fault(call: HostCall) -> str:
    if call.without_gil:
        return "without the GIL"
    if call.lost:
        return call.lost
    if call.failed:
        return "failed, cleared" if call.cleared else "failed, error left set"
    return ""
