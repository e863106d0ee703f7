"""Where the results of calls lie: the bytes of each beside those of its arguments, by columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from inspector.facts.conversion import ByteEvidence, Call
from inspector.facts.unknown import Unknown
from inspector.tracing.allocations import Blocks
from inspector.tracing.decode import FLAGS, KINDS, Events, Rows
from inspector.tracing.nesting import Nesting
from inspector.tracing.span_flags import SPAN_LINKED, SPAN_OWNED, SPAN_TOLD

SAMPLES_COMPARED, SAMPLES_WRITTEN, SAMPLES_EQUAL = 1 << 31, 1 << 29, (1 << 12) - 1
_SAMPLES: tuple[Literal["", "different", "equal"], ...] = ("", "different", "equal")
SMALL_TEXT = (ord("U"), ord("S"))
LOOKED_AT = 8
"""Results of like calls whose memory is looked for."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """Records of results that have bytes, and how each lies: columns of one length."""

    results: Rows
    heads: Rows
    """Row of the call that gave each."""
    ways: Rows
    """(group, is an argument, shares bytes with one, was written) and what its sample told, as one number."""


def weighed(events: Events, nesting: Nesting, calls: dict[int, Call]) -> tuple[ByteEvidence, ...]:
    """One ByteEvidence for each group of calls and each way its results lie."""
    one, blocks = weigh(events, nesting, calls), Blocks(events)
    different, inverse = np.unique(one.ways, return_inverse=True)
    return tuple(
        evidence(events, calls, blocks, code, one.results[inverse == number], one.heads[inverse == number])
        for number, code in enumerate(different.tolist())
    )


def weigh(events: Events, nesting: Nesting, calls: dict[int, Call]) -> Weighed:
    """Each result with bytes once: by the innermost call that gave it."""
    rows = events.of_kind("SPAN")
    owner = _call_of(nesting, rows)
    output = (events.records["flags"][rows] & FLAGS["OUTPUT"]) != 0
    shown = np.isin(nesting.group[owner], list(calls))
    results, given = rows[output & shown], rows[~output]
    made_by, given_to = owner[output & shown], owner[~output]
    same, overlaps = _compared(events.records, results, made_by, given, given_to)
    written = (events.records["code"][results] & SAMPLES_WRITTEN) != 0
    own = ~_passed_on(events.records, nesting, results, made_by, (same | overlaps) & ~written)
    way = ((nesting.group[made_by] * 2 + same) * 2 + overlaps) * 2 + written
    ways = way * 3 + _sampled(events.records["code"][results])
    return Weighed(results[own], nesting.heads[made_by[own]], ways[own])


def _call_of(nesting: Nesting, rows: Rows) -> Rows:
    """The head that each continuation belongs to."""
    return np.searchsorted(nesting.heads, rows, side="right") - 1


def _compared(records: Rows, results: Rows, made_by: Rows, given: Rows, given_to: Rows) -> tuple[Rows, Rows]:
    """For each result: is it one of its call's arguments, and does it share bytes with one."""
    first, behind = (np.searchsorted(made_by, given_to, side=side) for side in ("left", "right"))
    many = behind - first
    target = np.repeat(behind - np.cumsum(many), many) + np.arange(many.sum())
    given = np.repeat(given, many)
    made = results[target]
    start, stop = records["val"][given], records["val"][given] + records["aux"][given]
    low, high = records["val"][made], records["val"][made] + records["aux"][made]
    meets = (start < high) & (low < stop)
    is_same = (records["obj"][given] == records["obj"][made]) & (records["aux"][made] > 0)
    same, overlaps = np.zeros(len(results), bool), np.zeros(len(results), bool)
    np.logical_or.at(overlaps, target, meets)
    np.logical_or.at(same, target, is_same)
    return same, overlaps


def _passed_on(records: Rows, nesting: Nesting, results: Rows, made_by: Rows, lent: Rows) -> Rows:
    """Which results a call inside made and the call only handed on: they are told of once, inside.

    The same object and the same bytes: where an object was freed inside another may lie at its address.
    """
    outer = nesting.owner[made_by]
    inner = np.flatnonzero((outer >= 0) & ~lent)
    if not len(inner):
        return np.zeros(len(results), bool)
    made = results[inner]
    maker = np.rec.fromarrays([outer[inner], records["obj"][made], records["val"][made]])
    whole = np.rec.fromarrays([made_by, records["obj"][results], records["val"][results]])
    return np.isin(whole, maker)


def _sampled(masks: Rows) -> Rows:
    """0 nothing could be compared, 1 all that was is different, 2 an argument's elements are equal."""
    compared = (masks & SAMPLES_COMPARED) != 0
    equal = (masks & SAMPLES_EQUAL) != 0
    return np.where(compared, np.where(equal, 2, 1), 0)


def evidence(
    events: Events, calls: dict[int, Call], blocks: Blocks, code: int, results: Rows, heads: Rows
) -> ByteEvidence:
    """Of results that lie alike."""
    way, sample = divmod(code, 3)
    first, allocator = events.records[results[0]], _allocator(events, blocks, results, heads)
    owned = first["refs"] & SPAN_OWNED or not (first["refs"] & SPAN_LINKED or isinstance(allocator, Unknown))
    return ByteEvidence(
        call=calls[way >> 3],
        times=len(results),
        same_object=bool(way & 4),
        overlaps=bool(way & 2),
        sample=_SAMPLES[sample],
        logical_bytes=int(events.records["start"][results].sum()),
        span_bytes=int(events.records["aux"][results].sum()),
        allocator=allocator,
        written=bool(way & 1),
        owned=bool(owned),
        frames=blocks.frames(first, events.records[heads[0]]),
        was_there=blocks.was_there(first, events.records[heads[0]])
        or _seen_before(events, int(results[0]), int(heads[0])),
        shows_file=blocks.shows_file(first, events.records[heads[0]]),
    )


def _allocator(events: Events, blocks: Blocks, results: Rows, heads: Rows) -> str | Unknown:
    """Who asked for the memory of the results; they are alike, so the first that is known tells."""
    said: str | Unknown = Unknown("no result was recorded")
    for result, head in zip(results[:LOOKED_AT], heads[:LOOKED_AT], strict=True):
        said = blocks.giver(events.records[result], events.records[head])
        if not isinstance(said, Unknown):
            break
    return said


def _seen_before(events: Events, result: int, head: int) -> Literal["", "likely"]:
    """Whether a call that was given no bytes handed on what an argument of an earlier call in its line held.

    So do lazy plans, DLPack, `__array_interface__` and the Arrow C interface, whose arguments are bare
    addresses. Only the last record of the memory counts, and of the same line: what was freed meanwhile may
    have been given again. An object that frees the memory itself was handed nothing on.
    """
    records = events.records
    told = records[head + 1 : result]
    given = (told["kind"] == KINDS["SPAN"]) & (told["flags"] & FLAGS["OUTPUT"] == 0)
    told_or_lent = records["refs"][result] & SPAN_TOLD or not records["refs"][result] & SPAN_OWNED
    if not told_or_lent or any(events.types[one] != "str" for one in told["type"][given]):
        return ""
    low, high = records["val"][result], records["val"][result] + records["aux"][result]
    spans = np.flatnonzero(records["kind"][:head] == KINDS["SPAN"])
    covers = (records["val"][spans] <= low) & (high <= records["val"][spans] + records["aux"][spans])
    spans = spans[covers]
    if not len(spans):
        return ""
    last = int(spans[-1])
    while last and records["flags"][last] & FLAGS["CONTINUATION"]:
        last -= 1
    was_argument = (records["flags"][spans[spans > last]] & FLAGS["OUTPUT"] == 0).any()
    return "likely" if was_argument and _same_line(events, last, head) else ""


def _same_line(events: Events, one: int, other: int) -> bool:
    a, b = events.sites[events.site[one]], events.sites[events.site[other]]
    return a is b or (isinstance(a.line, int) and (a.file, a.line) == (b.file, b.line))
