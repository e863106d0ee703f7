"""Filters a trace, and computes the difference of two traces."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from inspector.facts.conversion import Call, Trace
from inspector.facts.trace_difference import CallChange, TraceDifference
from inspector.facts.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a reader wants to see; the default is everything."""

    patterns: tuple[str, ...] = ()
    """Function patterns: "numpy", "numpy.array", "*.tolist"; a module's name matches all its functions."""
    thread: int = 0
    """threading.get_ident(); 0: all threads."""
    least_bytes: int = 0
    least_ns: int = 0


def chosen(trace: Trace, what: Chosen) -> Trace:
    """The trace with only the chosen calls, their nested calls, and the chosen copies; totals are unchanged.

    Chosen calls inside a call that is left out take its place.
    """
    if what == Chosen():
        return trace
    calls = tuple(kept for call in trace.calls for kept in _kept(call, what))
    threads = {call.name for call in _all(calls)} if what.thread else set[str]()
    copies = tuple(
        copy
        for copy in trace.copies
        if _fits(copy.function, what.patterns)
        and copy.span_bytes >= what.least_bytes
        and (not what.thread or copy.function in threads)
    )
    return replace(trace, calls=calls, copies=copies)


def _kept(call: Call, what: Chosen) -> Iterator[Call]:
    if _is_wanted(call, what):
        yield call
        return
    for inner in call.calls:
        yield from _kept(inner, what)


def _is_wanted(call: Call, what: Chosen) -> bool:
    slow = not what.least_ns or (not isinstance(call.ns, Unknown) and call.ns >= what.least_ns)
    return (
        slow
        and _fits(call.name, what.patterns)
        and what.thread in (0, call.thread)
        and _bytes(call) >= what.least_bytes
    )


def _bytes(call: Call) -> int:
    values = [*call.arguments, *([] if isinstance(call.result, Unknown) else [call.result])]
    return max((sum(span.logical_bytes for span in value.spans) for value in values), default=0)


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    return not patterns or any(
        name == pattern or name.startswith(f"{pattern}.") or fnmatchcase(name, pattern)
        for pattern in patterns
    )


def difference(before: Trace, after: Trace) -> TraceDifference:
    """How `after` differs from `before`, by function and expression."""
    old, new = _of(before), _of(after)
    rows = [_change(key, old, new) for key in {**old, **new}]
    changed = [row for row in rows if _distance(row) != (0, 0)]
    return TraceDifference(
        changes=tuple(sorted(changed, key=_distance, reverse=True)),
        same=len(rows) - len(changed),
        copied_bytes_before=_copied(before),
        copied_bytes_after=_copied(after),
        events_before=before.events,
        events_after=after.events,
        wall_ns_before=before.wall_ns,
        wall_ns_after=after.wall_ns,
    )


Key = tuple[str, str]
Amounts = tuple[int, int, int | Unknown]


def _of(trace: Trace) -> dict[Key, Amounts]:
    """(function, expression) -> calls, copied bytes, nanoseconds."""
    found: dict[Key, Amounts] = {}
    for call in _all(trace.calls):
        key = (call.name, call.site.text)
        times, size, ns = found.get(key, (0, 0, 0))
        found[key] = times + call.times, size, _sum(ns, call.ns)
    for copy in trace.copies:
        if copy.verdict == "copied":
            key = (copy.function, copy.site.text)
            times, size, ns = found.get(key, (0, 0, Unknown("its calls are not shown")))
            found[key] = times, size + copy.copied_bytes, ns
    return found


def _sum(left: int | Unknown, right: int | Unknown) -> int | Unknown:
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return Unknown("no clock was read")
    return left + right


def _change(key: Key, before: dict[Key, Amounts], after: dict[Key, Amounts]) -> CallChange:
    old, new = before.get(key, (0, 0, 0)), after.get(key, (0, 0, 0))
    return CallChange(*key, old[0], new[0], old[1], new[1], old[2], new[2])


def _distance(row: CallChange) -> tuple[int, int]:
    size = abs(row.copied_bytes_after - row.copied_bytes_before)
    return size, abs(row.calls_after - row.calls_before)


def _copied(trace: Trace) -> int:
    return sum(copy.copied_bytes for copy in trace.copies if copy.verdict == "copied")


def _all(calls: tuple[Call, ...]) -> Iterator[Call]:
    for call in calls:
        yield call
        yield from _all(call.calls)
