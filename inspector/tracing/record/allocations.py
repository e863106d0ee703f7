"""Blocks of 4 KiB and more and their allocating code, looked up by a result's address."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable
from typing import Any, Final, Literal

import numpy as np

from inspector.facts.native import Place
from inspector.facts.unknown import Unknown
from inspector.tracing.arm.allocation_slots import PYTHON
from inspector.tracing.events import native_frames
from inspector.tracing.events.decode import COARSE_TICKS, FLAGS, KINDS, Events, Rows
from inspector.tracing.events.span_flags import SPAN_LINKED, SPAN_LINKS, SPAN_OWNED
from inspector.tracing.record import reported_spans

LEAST_BYTES: Final = 4096
LINKED: Final = "its own allocator"
"""The allocator of an unrecorded block of a library that has an allocator linked into it."""
_CPP: Final = "_Zn"
_LEAST_ADDRESS: Final = 1 << 16
"""A smaller number in a block's record belongs to a file."""
_NOT_RECORDED: Final = Unknown("allocations were not recorded")
_OUTDONE: Final = Unknown("another tracer took the functions through which memory is asked for")
_SMALL: Final = Unknown("blocks under 4 KiB are not recorded")
_NO_CLOCK: Final = Unknown("without a clock a block cannot be told from an earlier one")
_NOT_GIVEN: Final = Unknown(
    "no hooked function gave this memory: it was there before the trace, or comes from an allocator that is "
    "linked into a library"
)


def callers(records: Rows, named: Callable[[int], str]) -> dict[int, str]:
    """Return address in records of Python's own allocators -> allocating library, by `named`."""
    asked = (records["kind"] == KINDS["ALLOCATION"]) & (records["aux"] >= _LEAST_ADDRESS)
    told = np.unique(records["aux"][asked])
    return {address: named(address) for address in told.tolist()}


def _first_given(rows: Rows) -> Rows:
    """Ticks of each block's first allocation: realloc keeps it; 0: allocated before the trace.

    `rows` are in order of time. A block that grew from a small one, or one of unknown size, is new.
    """
    first = rows["start"].copy()
    upper, lower = (rows[name].astype(np.uint32).astype(np.uint64) for name in ("refs", "lasti"))
    grown = upper << np.uint64(32) | lower
    if not grown.any():
        return first
    latest: dict[int, int] = {}
    for number, (block, before) in enumerate(zip(rows["obj"].tolist(), grown.tolist(), strict=True)):
        if before:
            first[number] = first[latest[before]] if before in latest else 0
        latest[block] = number
    return first


class Blocks:
    """The recorded blocks of a trace, in order of time."""

    def __init__(self, events: Events) -> None:
        self._events = events
        rows = events.of_kind("ALLOCATION")
        rows = rows[np.argsort(events.records["start"][rows], kind="stable")]
        self._rows = events.records[rows]
        self._frames = native_frames.of_records(events, rows)
        self._start_ticks = self._rows["start"]
        self._start = self._rows["obj"]
        self._stop = self._start + self._rows["val"]
        self._first = _first_given(self._rows)
        self._packages: frozenset[str] | None = None
        self.lacks_some = bool(events.dropped or len(events.sums()[0]))
        """Blocks without a record of their own."""

    def giver(self, result: Any, call: Any) -> str | Unknown:
        """The allocating library and function of a result's memory: "_multiarray_umath (malloc)"."""
        if not self._events.givers:
            return _NOT_RECORDED
        if result["aux"] < LEAST_BYTES and not result["refs"] & SPAN_LINKED:
            return _SMALL
        if not call["start"]:
            return _NO_CLOCK
        block = self._block(result, call)
        if block is not None:
            return self._name(self._rows[block])
        if result["refs"] & SPAN_LINKED or self._links(call):
            return f"{self._linker(call)} ({LINKED})"
        return _OUTDONE if self._events.outdone else _NOT_GIVEN

    def _linker(self, call: Any) -> str:
        """The package with an allocator of its own: that of the function, or one it uses."""
        linking = self._linking()
        return next(iter(linking)) if len(linking) == 1 and not self._links(call) else self._package(call)

    def is_new(self, result: Any, call: Any) -> bool:
        """Whether a result is in a block allocated since its call began."""
        block = self._block(result, call) if call["start"] else None
        return block is not None and bool(self._first[block] >= call["start"])

    def frames(self, result: Any, call: Any) -> tuple[Place, ...]:
        """The native frames that allocated a result's memory, innermost first; () if not recorded."""
        block = self._block(result, call) if self._events.stacks and call["start"] else None
        return () if block is None else self._events.stacks.get(int(self._frames[block]), ())

    def _package(self, call: Any) -> str:
        return self._events.modules.get(int(call["slot"]), "").partition(".")[0]

    def _links(self, call: Any) -> bool:
        """Whether the function belongs to a package that has an allocator of its own."""
        return self._package(call) in self._linking()

    def _linking(self) -> frozenset[str]:
        """Packages with an allocator of their own: imported ones, and those of recorded objects."""
        if self._packages is None:
            records, spans = self._events.records, self._events.of_kind("SPAN")
            types = np.unique(records["type"][spans[(records["refs"][spans] & SPAN_LINKS) != 0]])
            calls = self._events.of_kind("METHOD", "VECTORCALL") if len(types) else spans[:0]
            slots = np.unique(records["slot"][calls[np.isin(records["type"][calls], types)]]).tolist()
            names = [self._events.types[number] for number in types.tolist()]
            names += [self._events.modules.get(slot, "") for slot in slots]
            packages = {name.partition(".")[0] for name in names}
            self._packages = frozenset(packages | reported_spans.linking())
        return self._packages

    def given(self, start: int, size: int) -> str | Unknown:
        """What allocated the memory during the trace; Unknown if no record contains it."""
        found = self._holding(start, size)
        return self._name(self._rows[found]) if found is not None else _NOT_GIVEN

    def since(self, start: int, size: int) -> int:
        """Ticks of the memory's last allocation; 0 if no record contains it."""
        found = self._holding(start, size)
        return int(self._start_ticks[found]) if found is not None else 0

    def has_grown(self, start: int, size: int) -> bool:
        """Whether the memory is a block from before the trace that realloc has grown, and perhaps moved."""
        found = self._holding(start, size)
        return found is not None and not self._first[found] and not self.lacks_some

    def _holding(self, start: int, size: int) -> int | None:
        low, high = np.uint64(start), np.uint64(start + size)
        found = np.flatnonzero((self._start <= low) & (high <= self._stop))
        return int(found[-1]) if len(found) else None

    def was_there(self, result: Any, call: Any) -> Literal["", "certain", "likely"]:
        """Whether a result's memory was allocated before its call, so that something else keeps it.

        "certain" for objects that own a block of a hooked allocator (ndarray, bytes, ...) of 4 KiB and more;
        "likely" for views, because an allocator linked into a library may have allocated their memory during
        the call. "" if the function's own library has such an allocator, unless its object reports a borrow.
        """
        is_whole = self._events.givers and not self._events.outdone and not self._events.dropped
        can_tell = is_whole and call["start"]
        if not can_tell or result["refs"] & SPAN_LINKED or result["aux"] < LEAST_BYTES:
            return ""
        block = self._block(result, call)
        if block is not None and self._first[block] >= call["start"]:
            return ""
        if result["refs"] & SPAN_OWNED or block is not None:
            return "certain"
        if not self._links(call):
            return "likely"
        package = self._events.types[int(result["type"])].partition(".")[0]
        lent_by_another = result["refs"] & SPAN_LINKS and package == self._package(call)
        return "likely" if lent_by_another else ""

    def shows_file(self, result: Any, call: Any) -> bool:
        """Whether a result is in a file mapped during the trace."""
        block = self._block(result, call) if call["start"] else None
        return block is not None and self._is_mapped_file(block)

    def is_mapped_file(self, start: int, size: int) -> bool:
        """Whether the bytes are those of a file mapped during the trace."""
        found = self._holding(start, size)
        return found is not None and self._is_mapped_file(found)

    def _is_mapped_file(self, block: int) -> bool:
        row = self._rows[block]
        return bool(row["aux"]) and self._events.givers[int(row["func"])].startswith("mmap")

    def _block(self, result: Any, call: Any) -> int | None:
        """Index of the last block, allocated before the call's end, that contains the result's bytes."""
        ticks = int(call["duration"]) * (COARSE_TICKS if call["flags"] & FLAGS["COARSE"] else 1)
        before = np.searchsorted(self._rows["start"], int(call["start"]) + ticks, side="right")
        low, high = result["val"], result["val"] + result["aux"]
        found = np.flatnonzero((self._start[:before] <= low) & (high <= self._stop[:before]))
        return int(found[-1]) if len(found) else None

    def _name(self, row: Any) -> str:
        function = self._events.givers[int(row["func"])]
        if function.startswith("Py"):
            return f"{self._events.callers.get(int(row['aux']), PYTHON)} ({function})"
        library = self._events.askers.get(int(row["slot"]), "a library that is gone")
        return f"{library} ({'operator new' if function.startswith(_CPP) else function})"
