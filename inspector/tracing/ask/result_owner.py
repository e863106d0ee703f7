"""After a trace, find the recorded call that made, or passed on, the bytes that an object holds now."""

# SPDX-License-Identifier: MIT
from dataclasses import replace
from typing import Any, Final

import numpy as np

from inspector.facts.conversion import A_MAPPED_FILES, ByteEvidence, Call, Copy, Site, Verdict
from inspector.facts.unknown import Unknown
from inspector.tracing.ask.nesting import Nesting
from inspector.tracing.ask.spans import Weighed, evidence, in_part, weigh
from inspector.tracing.events.decode import COARSE_TICKS, FLAGS, Events, Rows
from inspector.tracing.events.span_flags import SPAN_LINKED, SPAN_TOLD
from inspector.tracing.record import reported_spans
from inspector.tracing.record.allocations import LEAST_BYTES, Blocks

NO_CALL: Final = "no call that a hook sees"
_ANOTHERS: Final = Unknown("it is another object's memory")
_TOO_MANY: Final = Unknown("an object of its call has more blocks than a record tells of")
_HELD_BY_ANOTHER: Final = "another object that is alive holds the same bytes"
_ADDED_UP: Final = Unknown("calls that repeat were added up: the last one there has no record of its own")
_NONE: Final = Unknown("it has no elements")
_ITS_OWN: Final = Unknown("it is its own memory, from before")
_A_FILES: Final = Unknown("it is a mapped file's")
_NOWHERE: Final = Unknown("no recorded call gave it")
_SITE: Final = Site(_NOWHERE, _NOWHERE, _NOWHERE, _NOWHERE, "")


class Belonging:
    """Compares the results of a trace with the memory of living objects."""

    def __init__(self, events: Events, nesting: Nesting, calls: dict[int, Call]) -> None:
        self._events, self._calls = events, calls
        self._all: Weighed = weigh(events, nesting, calls)
        self._blocks = Blocks(events)
        self._order = np.argsort(events.records["start"][self._all.heads], kind="stable")
        self._judged: dict[int, ByteEvidence] = {}

    def of(self, x: Any) -> tuple[ByteEvidence | Copy, ...] | Unknown:
        """For each block of the object, what is known of the call that its bytes came from.

        Blocks in one result (columns of a frame made from a matrix) are reported once, as that result.
        """
        rows = reported_spans.spans(x)
        rows = reported_spans.lent(x) if rows is None else rows
        rows = reported_spans.own(x) if rows is None else rows
        if rows is None:
            return Unknown("no adapter knows where this type keeps its bytes, and it lends no buffer")
        if not rows:
            return Unknown("its library does not tell where its bytes are, or it has none")
        if not any(row[1] for row in rows):
            return (_by_memory(rows[0], _NONE, "it has no elements: nothing is copied or shared", "made"),)
        others = reported_spans.Others(x)
        found = [(row, self._of_block(id(x), row, others)) for row in rows if row[1]]
        told = {id(one): one for _, one in found if not isinstance(one, Unknown)}
        large = (one for row, one in found if row[1] >= LEAST_BYTES or not told)
        unknown = next((one for one in large if isinstance(one, Unknown)), None)
        return tuple(told.values()) if unknown is None else unknown

    def _of_block(
        self, x: int, row: reported_spans.Row, others: reported_spans.Others
    ) -> ByteEvidence | Copy | Unknown:
        """The last call that wrote bytes there. Without one: what allocated the memory, if during the trace;
        for other memory the last call that passed it on.
        """
        records = self._events.records
        low, high = np.uint64(row[0]), np.uint64(row[0] + row[1])
        start = records["val"][self._all.results]
        meets = (start < high) & (low < start + records["aux"][self._all.results])
        given = self._blocks.since(row[0], row[1])
        meets &= self._ended() >= given
        near = self._order[meets[self._order]]
        judged = [self._evidence(number) for number in near[::-1].tolist()]
        fresh = [one for one in judged if _put_bytes(one)]
        one = (fresh or judged)[0] if fresh or (judged and not given) else None
        if self._may_be_later(near):
            return _ADDED_UP
        one = self._reported_in_part(x, row) if one is None and not given else one
        if one is None:
            return self._unseen(row, others)
        if not one.partial:
            return one
        held = others.hold(row[0], row[1])
        return _by_memory(row, _ANOTHERS, _HELD_BY_ANOTHER) if held else _TOO_MANY

    def _may_be_later(self, near: Rows) -> bool:
        """Whether a call without a record of its own may have come after the last of these results."""
        later = self._events.added_up()
        return bool(len(later)) and (not len(near) or int(self._ended()[near[-1]]) <= int(later.max()))

    def _reported_in_part(self, x: int, row: reported_spans.Row) -> ByteEvidence | None:
        """What the call that returned the object implies for further blocks, if it has too many to report."""
        if not row[5] & SPAN_TOLD:
            return None
        records, rows = self._events.records, self._all.results
        mine = np.flatnonzero((records["obj"][rows] == x) & in_part(records, rows, self._all.heads))
        return replace(self._evidence(int(mine[-1])), partial=True) if len(mine) else None

    def _ended(self) -> Rows:
        """Ticks at the return of each result's call."""
        calls = self._events.records[self._all.heads]
        coarse = (calls["flags"] & FLAGS["COARSE"]) != 0
        ended: Rows = calls["start"] + calls["duration"].astype(np.uint64) * np.where(
            coarse, COARSE_TICKS, 1
        ).astype(np.uint64)
        return ended

    def _evidence(self, number: int) -> ByteEvidence:
        """The evidence of one result, cached."""
        if number not in self._judged:
            way, here = int(self._all.ways[number]), np.array([number])
            found = self._all.results[here], self._all.heads[here]
            self._judged[number] = evidence(self._events, self._calls, self._blocks, way, *found)
        return self._judged[number]

    def _unseen(self, row: reported_spans.Row, others: reported_spans.Others) -> Copy | Unknown:
        """For bytes of no recorded call: from an operator, an index, code without a hook."""
        start, span_bytes = row[:2]
        if self._blocks.is_mapped_file(start, span_bytes):
            return _by_memory(row, _A_FILES, A_MAPPED_FILES)
        if self._blocks.has_grown(start, span_bytes):
            return _by_memory(row, _ITS_OWN, "its memory was there before the trace, and grew")
        if span_bytes >= LEAST_BYTES and not row[5] & SPAN_LINKED:
            giver = self._blocks.given(start, span_bytes)
            if not isinstance(giver, Unknown) or not self._blocks.lacks_some:
                return _by_memory(row, giver, "its memory was there before the trace")
        if others.hold(start, span_bytes):
            return _by_memory(row, _ANOTHERS, _HELD_BY_ANOTHER)
        if self._events.dropped:
            return Unknown("no call that is still recorded gave these bytes: records were dropped (mode=)")
        if span_bytes < LEAST_BYTES:
            return Unknown("no recorded call gave these bytes, and blocks under 4 KiB are not recorded")
        return Unknown("no recorded call gave these bytes, and the library's own allocator is not hooked")


def _by_memory(row: reported_spans.Row, giver: str | Unknown, why: str, verdict: Verdict = "shared") -> Copy:
    """For bytes of no call, by what allocated their memory; `why` if no record in the trace did."""
    fresh = not isinstance(giver, Unknown)
    return Copy(
        verdict="copied" if fresh else verdict,
        copied_bytes=row[2] if fresh else 0,
        span_bytes=row[1],
        confidence="likely",
        reason="its memory was given during the trace" if fresh else why,
        avoid="",
        function=NO_CALL,
        times=1,
        allocator=giver,
        source="not seen",
        result="",
        site=_SITE,
    )


def _put_bytes(one: ByteEvidence) -> bool:
    """Whether a call created these bytes, or wrote an argument's bytes into them."""
    return one.was_filled or not (one.same_object or one.overlaps or one.was_kept)
