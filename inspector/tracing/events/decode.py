"""Records as columns, read by the field table that the extension exports."""

# SPDX-License-Identifier: MIT
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import numpy as np

from inspector import _native
from inspector.facts.conversion import Counted, Loss, Materialized, Seen, Site
from inspector.facts.converted import NO_LINES, HostLines
from inspector.facts.hosted import HostSite
from inspector.facts.native import Place
from inspector.facts.statements import Bound, Named, Operator, Written
from inspector.facts.unknown import Unknown

KINDS: Final = {name: number for name, number, _ in _native.EVENT_KINDS}
FLAGS: Final = {name: mask for name, mask, _ in _native.EVENT_FLAGS}
CALL_KINDS: Final = tuple(
    KINDS[name] for name in ("METHOD", "SLOT", "VECTORCALL", "FOREIGN", "CALLBACK", "FINALIZE")
)
_FORMATS: Final = {"Q": "u8", "I": "u4", "i": "i4", "h": "i2", "H": "u2", "B": "u1"}
RECORD_BYTES: Final = 64
COARSE_TICKS: Final = 1024

Rows = np.ndarray[Any, np.dtype[Any]]
"""A one-dimensional array of records, or of row numbers."""


@cache
def record_type() -> np.dtype[Any]:
    """The 64-byte record as a NumPy structure."""
    fields = _native.EVENT_FIELDS
    return np.dtype(
        {
            "names": [name for name, _, _, _ in fields],
            "formats": [f"<{_FORMATS[code]}" for _, code, _, _ in fields],
            "offsets": [offset for _, _, offset, _ in fields],
            "itemsize": RECORD_BYTES,
        }
    )


@dataclass(slots=True)
class Events:
    """The records of a trace, thread after thread, and the tables for their numbers."""

    records: Rows
    thread: Rows
    """Index into `threads` of each record. Each greenlet counts as a thread of its own."""
    threads: tuple[int, ...]
    """threading.get_ident() of each."""
    types: tuple[str, ...]
    """Full name of each interned type; "" for other objects."""
    sites: tuple[Site, ...]
    site: Rows
    """Index into `sites` of each record; 0 is "not recorded"."""
    names: dict[int, str]
    """Patched place -> name of the call."""
    modules: dict[int, str]
    """Patched place -> module it belongs to."""
    tick_ps: int
    dropped: int
    wall_ns: int
    grade: str
    seen: tuple[Seen, ...] = ()
    import_modules: dict[int, str] = field(default_factory=dict)
    """Import slot -> extension that it belongs to."""
    askers: dict[int, str] = field(default_factory=dict)
    """Import slot -> library that allocates memory through it."""
    callers: dict[int, str] = field(default_factory=dict)
    """Return address in a record of Python's own allocators -> library, or "Python"."""
    givers: tuple[str, ...] = ()
    outdone: bool = False
    """Another tracer took slots through which memory is allocated: blocks are missing."""
    """Functions that allocate memory, by the number in an ALLOCATION record; empty: none was recorded."""
    materialized: tuple[Materialized, ...] = ()
    hosts: dict[int, str] = field(default_factory=dict)
    """Import slot of a host that embeds Python -> function that it calls through it."""
    stacks: dict[int, tuple[Place, ...]] = field(default_factory=dict)
    """Number in a STACK record -> native frames, innermost first; empty if not requested."""
    skipped: int = 0
    """Calls from Python that a sample left out."""
    constants: dict[int, str] = field(default_factory=dict)
    """Address of a C text -> its special meaning to a host."""
    hooked_imports: int = 0
    """Import slots of extensions that were hooked; 0: no C-API function was recorded."""
    counted: tuple[Counted, ...] | Unknown = ()
    """Calls of the C API that the grade counts, the most frequent first."""

    written: tuple[Written, ...] = ()
    """The statements of the user's code that records or values belong to."""
    bound: tuple[Bound, ...] = ()
    """Values that they bound."""
    lost: tuple[Loss, ...] = ()
    """Losses of conversions that their values alone show."""
    given: tuple[Named, ...] = ()
    """What the statements named."""
    operators: tuple[Operator, ...] = ()
    """Of torch."""
    values_seen: bool = False
    """Whether values were looked at."""
    host_sites: dict[int, HostSite | Unknown] = field(default_factory=dict)
    """Number in a STACK record -> the line of a host."""
    host_lines: HostLines = NO_LINES
    _sums: tuple[Rows, Rows] | None = field(init=False, default=None)
    _times: Rows | None = field(init=False, default=None)

    def __len__(self) -> int:
        return len(self.records)

    def flagged(self, name: str) -> Rows:
        """Mask of the records with a flag."""
        found: Rows = (self.records["flags"] & FLAGS[name]) != 0
        return found

    def of_kind(self, *names: str) -> Rows:
        """Row numbers of the records of these kinds."""
        found: Rows = np.flatnonzero(among(self.records["kind"], [KINDS[name] for name in names]))
        return found

    def times(self) -> Rows:
        """How many calls each record tells: of calls that repeat one record may tell all."""
        if self._times is None:
            found: Rows = np.ones(len(self), np.int64)
            again = np.flatnonzero(self.flagged("REPEATED"))
            found[again] += self.records["refs"][again]
            rows, of = self.sums()
            found[of] += self.records["val"][rows].astype(np.int64)
            found.flags.writeable = False
            self._times = found
        return self._times

    def sums(self) -> tuple[Rows, Rows]:
        """(records that tell of further calls, the record of the first call of each)."""
        if self._sums is None:
            rows = self.of_kind("SUM")
            heads = np.flatnonzero(~self.flagged("CONTINUATION")) if len(rows) else rows
            self._sums = rows, heads[np.searchsorted(heads, rows, side="right") - 1] if len(rows) else rows
        return self._sums

    def added_up(self) -> Rows:
        """Ticks at the last call of each kind that has no record of its own; empty: each call has one."""
        ticks: Rows = self.records["start"][self.sums()[0]]
        return ticks

    def all_ns(self) -> Rows:
        """Nanoseconds of the calls that each record tells."""
        found, (rows, of) = self.durations_ns(), self.sums()
        found[of] += self.records["aux"][rows] * (self.tick_ps / 1000)
        return found

    def durations_ns(self) -> Rows:
        """Nanoseconds of each record; 0 where no clock was read at its return."""
        ticks = self.records["duration"].astype(np.float64)
        ticks[self.flagged("COARSE")] *= COARSE_TICKS
        found: Rows = ticks * (self.tick_ps / 1000)
        return found


def among(kinds: Rows, some: Sequence[int]) -> Rows:
    """Mask of those that are one of some; in one step for each, where `numpy.isin` sorts."""
    table = np.zeros(1 << 8, bool)
    table[list(some)] = True
    found: Rows = table[kinds]
    return found


def joined(rings: Sequence[tuple[Any, ...]]) -> tuple[Rows, Rows, tuple[int, ...], int]:
    """(records, thread of each, thread identifiers, dropped) from the rows of `ring_end`."""
    parts = [
        (ring[0], part) for ring in rings for part in _by_greenlet(np.frombuffer(ring[-1], record_type()))
    ]
    records = np.concatenate([part for _, part in parts]) if parts else np.empty(0, record_type())
    thread = np.repeat(np.arange(len(parts), dtype=np.int32), [len(part) for _, part in parts])
    return records, thread, tuple(ident for ident, _ in parts), sum(ring[3] for ring in rings)


def _by_greenlet(records: Rows) -> list[Rows]:
    """The records of one ring, those of each greenlet together."""
    switches = np.flatnonzero(records["kind"] == KINDS["GREENLET"])
    if not len(switches):
        return [records]
    at = np.searchsorted(switches, np.arange(len(records)), side="right") - 1
    number = np.where(at < 0, records["aux"][switches[0]], records["val"][switches[at]])
    number[switches] = 0
    return [records[number == one] for one in dict.fromkeys(number.tolist()) if one]
