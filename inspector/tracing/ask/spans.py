"""Compare the memory of calls' results with that of their arguments, by columns."""

# SPDX-License-Identifier: MIT
from dataclasses import dataclass
from typing import Literal

import numpy as np

from inspector.facts.conversion import ByteEvidence, Call
from inspector.facts.unknown import Unknown
from inspector.tracing.ask.added_up import told_by
from inspector.tracing.ask.nesting import TOP, Nesting
from inspector.tracing.events.decode import FLAGS, KINDS, Events, Rows
from inspector.tracing.events.span_flags import SPAN_LINKED, SPAN_MORE, SPAN_OWNED, SPAN_TOLD
from inspector.tracing.record.allocations import Blocks

SAMPLES_COMPARED, SAMPLES_WRITTEN, SAMPLES_EQUAL = 1 << 31, 1 << 29, (1 << 12) - 1
_SAMPLES: tuple[Literal["", "different", "equal"], ...] = ("", "different", "equal")
LEVELS_UP = 8
LOOKED_AT = 8
"""Most results of equal calls whose allocation is searched."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """Records of results with bytes, and their memory relation: columns of equal length."""

    results: Rows
    heads: Rows
    """Row of the call that returned each."""
    ways: Rows
    """(group, is an argument, shares bytes with one, was written, may share unreported bytes) and the
    result of its sample, as one number."""


def weighed(events: Events, nesting: Nesting, calls: dict[int, Call]) -> tuple[ByteEvidence, ...]:
    """One ByteEvidence for each group of calls and each memory relation of its results."""
    one, blocks = weigh(events, nesting, calls), Blocks(events)
    different, inverse = np.unique(one.ways, return_inverse=True)
    return tuple(
        evidence(events, calls, blocks, code, one.results[inverse == number], one.heads[inverse == number])
        for number, code in enumerate(different.tolist())
    )


def weigh(events: Events, nesting: Nesting, calls: dict[int, Call]) -> Weighed:
    """Each result with bytes once: for the innermost call that returned it."""
    rows = events.of_kind("SPAN")
    owner = np.searchsorted(nesting.heads, rows, side="right") - 1
    output = (events.records["flags"][rows] & FLAGS["OUTPUT"]) != 0
    shown = np.isin(nesting.group[owner], list(calls))
    results, given = rows[output & shown], rows[~output]
    made_by, given_to = owner[output & shown], owner[~output]
    results, made_by = _by_who_was_given(events.records, nesting, results, made_by, given_to)
    same, overlaps = _compared(events.records, results, made_by, given, given_to)
    written = (events.records["code"][results] & SAMPLES_WRITTEN) != 0
    own = ~_passed_on(events.records, nesting, results, made_by, (same | overlaps) & ~written)
    partial = _may_be_more(events.records, results, made_by, given, given_to) & ~(same | overlaps)
    way = (((nesting.group[made_by] * 2 + same) * 2 + overlaps) * 2 + written) * 2 + partial
    ways = way * 3 + _sampled(events.records["code"][results])
    return Weighed(results[own], nesting.heads[made_by[own]], ways[own])


def _by_who_was_given(
    records: Rows, nesting: Nesting, results: Rows, made_by: Rows, given_to: Rows
) -> tuple[Rows, Rows]:
    """Results with the call that each is judged by, in the order of the calls.

    A result whose object does not free its bytes, of a nested call that got only a bare address (the Arrow C
    interface), is compared with the arguments of the enclosing call that was passed bytes.
    """
    words = records["refs"][results]
    owned = (words & (SPAN_OWNED | SPAN_LINKED)) != 0
    handed = ((words & SPAN_TOLD) != 0) & ~owned & ~np.isin(made_by, given_to)
    above = _above(nesting, made_by, given_to)
    handed &= (above >= 0) & (nesting.group[above] >= 0)
    judged_by = np.where(handed, above, made_by)
    keys = np.rec.fromarrays([judged_by, records["obj"][results], records["val"][results]])
    kept = np.flatnonzero(~(handed & np.isin(keys, keys[~handed])))
    order = kept[np.argsort(judged_by[kept], kind="stable")]
    return results[order], judged_by[order]


def _above(nesting: Nesting, made_by: Rows, given_to: Rows) -> Rows:
    """For each call the innermost enclosing one that was passed bytes; TOP without one."""
    was_given = np.zeros(len(nesting.heads) + 1, bool)
    was_given[given_to] = True
    at = nesting.owner[made_by]
    for _ in range(LEVELS_UP):
        at = np.where((at == TOP) | was_given[at], at, nesting.owner[at])
    return np.where(was_given[at], at, TOP)


def _compared(records: Rows, results: Rows, made_by: Rows, given: Rows, given_to: Rows) -> tuple[Rows, Rows]:
    """For each result: whether it is one of its call's arguments, and whether it shares bytes with one."""
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


def _may_be_more(records: Rows, results: Rows, made_by: Rows, given: Rows, given_to: Rows) -> Rows:
    """Which adapter-reported results come from a call with an argument that was not fully reported."""
    more = given_to[in_part(records, given, given_to)]
    found: Rows = np.isin(made_by, more) & ((records["refs"][results] & SPAN_TOLD) != 0)
    return found


def in_part(records: Rows, spans: Rows, owner: Rows) -> Rows:
    """Which spans are the last reported of their object at the owning call, though the object has more."""
    has_more: Rows = (records["refs"][spans] & SPAN_MORE) != 0
    if not has_more.any():
        return has_more
    keys = np.rec.fromarrays([owner, records["obj"][spans]])[::-1]
    last = len(keys) - 1 - np.unique(keys, return_index=True)[1]
    return has_more & np.isin(np.arange(len(spans)), last)


def _passed_on(records: Rows, nesting: Nesting, results: Rows, made_by: Rows, lent: Rows) -> Rows:
    """Which results a nested call made and the call only passed on: reported once, for the nested call.

    Object and bytes must be the same: another object may be at the address of one freed inside.
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
    """0: nothing could be compared, 1: all compared elements differ, 2: they equal an argument's."""
    compared = (masks & SAMPLES_COMPARED) != 0
    equal = (masks & SAMPLES_EQUAL) != 0
    return np.where(compared, np.where(equal, 2, 1), 0)


def evidence(
    events: Events, calls: dict[int, Call], blocks: Blocks, code: int, results: Rows, heads: Rows
) -> ByteEvidence:
    """The evidence of results with one memory relation."""
    way, sample = divmod(code, 3)
    told = told_by(events, results)
    first, allocator = events.records[results[0]], _allocator(events, blocks, results, heads)
    seen = _seen_before(events, int(results[0]), int(heads[0]))
    owned = first["refs"] & SPAN_OWNED or not (first["refs"] & SPAN_LINKED or isinstance(allocator, Unknown))
    return ByteEvidence(
        call=calls[way >> 4],
        times=told.times,
        same_object=bool(way & 8),
        overlaps=bool(way & 4),
        sample=_SAMPLES[sample],
        logical_bytes=told.logical_bytes,
        span_bytes=told.span_bytes,
        allocator=allocator,
        written=bool(way & 2),
        partial=(bool(way & 1) or seen == "in part") and not blocks.is_new(first, events.records[heads[0]]),
        owned=bool(owned),
        frames=blocks.frames(first, events.records[heads[0]]),
        was_there=blocks.was_there(first, events.records[heads[0]]) or ("likely" if seen == "whole" else ""),
        shows_file=blocks.shows_file(first, events.records[heads[0]]),
    )


def _allocator(events: Events, blocks: Blocks, results: Rows, heads: Rows) -> str | Unknown:
    """What allocated the memory of the results; they are alike, so the first known one counts."""
    said: str | Unknown = Unknown("no result was recorded")
    for result, head in zip(results[:LOOKED_AT], heads[:LOOKED_AT], strict=True):
        said = blocks.giver(events.records[result], events.records[head])
        if not isinstance(said, Unknown):
            break
    return said


def _seen_before(events: Events, result: int, head: int) -> Literal["", "in part", "whole"]:
    """Whether a call without bytes in its arguments passed on an argument's bytes of an earlier call on its
    line, or of a nested call.

    Lazy plans, DLPack, `__array_interface__` and the Arrow C interface, whose arguments are bare addresses,
    do so, and methods of the user's classes. Only the last record of the memory counts, on the same line:
    memory freed meanwhile may have been allocated again. An object that frees the memory itself got it from
    no other. In part: an argument there has unreported blocks.
    """
    records = events.records
    if result < head:
        return ""  # judged by an enclosing call that was passed bytes
    told = records[head + 1 : result]
    given = (told["kind"] == KINDS["SPAN"]) & (told["flags"] & FLAGS["OUTPUT"] == 0)
    told_or_lent = records["refs"][result] & SPAN_TOLD or not records["refs"][result] & SPAN_OWNED
    if not told_or_lent or any(events.types[one] != "str" for one in told["type"][given]):
        return ""
    low, high = records["val"][result], records["val"][result] + records["aux"][result]
    spans = np.flatnonzero(records["kind"][:head] == KINDS["SPAN"])
    covers = (records["val"][spans] <= low) & (high <= records["val"][spans] + records["aux"][spans])
    if covers.any():
        last = _head_of(records, int(spans[covers][-1]))
        near = spans[covers & (spans > last)]
        was_argument = (records["flags"][near] & FLAGS["OUTPUT"] == 0).any()
        return "whole" if was_argument and _is_near(events, last, head) else ""
    heads = np.cumsum((records["flags"][:head] & FLAGS["CONTINUATION"]) == 0)
    wide = spans[in_part(records, spans, heads[spans])][-LOOKED_AT:].tolist()
    return "in part" if any(_is_near(events, _head_of(records, one), head) for one in wide) else ""


def _head_of(records: Rows, row: int) -> int:
    """Row of the call that a continuation belongs to."""
    while row and records["flags"][row] & FLAGS["CONTINUATION"]:
        row -= 1
    return row


def _is_near(events: Events, one: int, other: int) -> bool:
    """Whether two calls are on one line, or the one with the earlier record ran inside the other."""
    a, b = events.sites[events.site[one]], events.sites[events.site[other]]
    if a is b or (isinstance(a.line, int) and (a.file, a.line) == (b.file, b.line)):
        return True
    began = events.records["start"][[one, other]]
    same_thread = events.thread[one] == events.thread[other]
    return bool(same_thread and began[1] and began[0] >= began[1])
