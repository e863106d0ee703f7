"""Raw memory of chosen modules: blocks outside Python's objects, followed by run; at the end those not freed,
by the place that allocated them, with what still points to them."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from inspector import _native
from inspector.binaries.addresses import place
from inspector.facts.conversion import Site
from inspector.facts.leaks import RawMemory as Blocks
from inspector.facts.leaks import Touch
from inspector.facts.unknown import Unknown
from inspector.ledger.kernel_memory import kept_by_kernel
from inspector.tracing.events.code_places import NOWHERE
from inspector.tracing.events.name_tables import library_of
from inspector.tracing.events.native_lines import native_file, native_line

FRAMES_SHOWN: Final = 4
RUNS_MAX: Final = 255
"""Runs that a block's number can distinguish; later runs count as the last one."""
_OWN_CODE: Final = str(Path(__file__).resolve().parents[1]) + "/"
_SHOWN: Final = {"_Zn": "operator new", "__s": "strdup"}
"""Beginning of a symbol -> the function's name in a source."""
LOST, LOST_WITH, REACHED = range(3)
_UNTOLD: Final = "its allocator does not tell whether it was freed meanwhile"
_UNTRACED: Final = "too many places lost blocks: its address in disguise was not looked for"
_MOVED: Final = "other threads ran during the search: a pointer may have moved past it"
_IN_RING: Final = "an io_uring is open: the kernel may hold its address for a request"
_IDLE: Final = 50
"""Waiting threads, also for the GIL, together ran for less than this fraction (1/50) of a search."""
_HOST: Final = "the program that embeds Python runs still, and may know its address otherwise"


class Row(NamedTuple):
    """One block that is not freed; see `_native.RawMemoryRow`."""

    address: int
    bytes: int
    run: int
    function: int
    stack: int
    frames: tuple[int, ...]
    code: int
    lasti: int
    method: int
    reach: int
    given_out: int
    word: int
    kind: str


@dataclass(slots=True)
class RawMemory:
    """The recorder of raw memory, open while one or more runs are under the ledger."""

    in_host: bool = False
    """In a program that embeds Python, report only blocks of its own libraries: the rest is Python's own."""
    is_open: bool = False
    runs: int = 0
    scanned_bytes: int = 0
    scan_ns: int = 0
    """Nanoseconds of the last search."""
    _blocks: int = 0
    """Blocks not freed when the last run ended."""
    _in_ring: bool = False
    _python: str = ""
    """Path of the file that defines `int`: the interpreter."""
    _hosts: frozenset[str] = frozenset()
    _others_ran: bool = False
    """Whether other threads ran during the search."""

    def open(self) -> None:
        """Begin to record frees; a second call does nothing."""
        if not self.is_open:
            _native.raw_memory_open()
            self.is_open, self.runs = True, 0

    def begin_run(self) -> None:
        """Record blocks allocated from now on."""
        self.runs = min(self.runs + 1, RUNS_MAX)
        _native.raw_memory_run(self.runs)

    def end_run(self) -> None:
        """Record no more allocations, but still frees."""
        self._blocks = _native.raw_memory_run(0)
        _native.raw_memory_disarm()

    def found(
        self, method: Callable[[int], str], at: Callable[[int, int], Site], stage: Callable[[int], int]
    ) -> tuple[Blocks, ...]:
        """The blocks not freed: lost ones, and places at which every run left more.

        `method`: 1 + number of a method -> its name; `at`: number of code, offset -> line; `stage`: number of
        code -> stage; of the last run.
        """
        if not self._blocks:
            return ()
        python = _native.image(id(int))
        self._python = python[0] if python is not None else ""
        self._hosts = frozenset(_native.got_hosts()) - {self._python} if self.in_host else frozenset()
        start, ran = time.perf_counter_ns(), _ran_elsewhere_ns()
        kept, self._in_ring = kept_by_kernel()  # ints: the search finds them as it finds any handle
        rows, self.scanned_bytes, self.scan_ns = _native.raw_memory_search(_native.ledger_rooms(), _OWN_CODE)
        del kept
        ran = _ran_elsewhere_ns() - ran
        self._others_ran = ran * _IDLE > time.perf_counter_ns() - start
        every = [row for row in map(Row._make, rows) if self._is_attributed(row)]
        by_address = {row.address: row for row in every}
        sites: dict[tuple[int, int, int], list[Row]] = defaultdict(list)
        for row in every:
            sites[row.function, row.stack, stage(row.code)].append(row)
        told = [
            self._site(some, by_address, method, at, stage) for some in sites.values() if self._counts(some)
        ]
        return tuple(sorted(told, key=lambda one: (-sum(one.lost), -sum(one.bytes))))

    def unsearched(self) -> Counter[str]:
        """How many blocks are not freed, which only a search would judge."""
        return Counter({"blocks": self._blocks})

    def close(self) -> None:
        """Forget the blocks and stop recording; a second call does nothing."""
        if self.is_open:
            self.is_open = False
            _native.raw_memory_close()
            _native.freeing_disarm()

    def _is_attributed(self, row: Row) -> bool:
        """Whether the allocating code is known, and is not the interpreter."""
        asked_by = _file(row)
        if not self.in_host:
            return asked_by not in ("", self._python)
        return asked_by in self._hosts and not _function(row).startswith("Py")

    def _counts(self, some: Sequence[Row]) -> bool:
        """Whether at least two runs lost blocks, if there are several; or every run left some."""
        lost = {row.run for row in some if row.reach == LOST}
        grew = self.runs > 1 and len({row.run for row in some}) == self.runs
        return len(lost) >= min(self.runs, 2) or grew

    def _site(
        self,
        some: Sequence[Row],
        by_address: dict[int, Row],
        method: Callable[[int], str],
        at: Callable[[int, int], Site],
        stage: Callable[[int], int],
    ) -> Blocks:
        lost = [row for row in some if row.reach != REACHED]
        held = [row for row in some if row.reach == REACHED]
        shown = max(lost or some, key=lambda row: row.run)
        return Blocks(
            module=library_of(_file(shown)),
            blocks=self._by_run(some, lambda row: 1),
            bytes=self._by_run(some, lambda row: row.bytes),
            lost=self._by_run(lost, lambda row: 1),
            doubts=self._doubts(lost),
            holder=_holder(held[-1], by_address) if held else "",
            asked=_touches(
                shown, *((method, at, stage) if shown.run == self.runs else (_no_method, _nowhere, _none))
            ),
        )

    def _doubts(self, lost: Sequence[Row]) -> tuple[str, ...]:
        doubts = (
            (any(row.given_out < 0 for row in lost), _UNTOLD),
            (any(row.kind == "untraced" for row in lost), _UNTRACED),
            (self._others_ran, _MOVED),
            (self._in_ring, _IN_RING),
            (self.in_host, _HOST),
        )
        return tuple(doubt for is_there, doubt in doubts if is_there)

    def _by_run(self, some: Sequence[Row], number: Any) -> tuple[int, ...]:
        return tuple(sum(number(row) for row in some if row.run == run + 1) for run in range(self.runs))


def _file(row: Row) -> str:
    """Path of the library whose code allocated it; "" if no frame shows it."""
    image = _native.image(row.frames[0] - 1) if row.frames else None
    return image[0] if image is not None else ""


def _ran_elsewhere_ns() -> int:
    """CPU time of all other threads so far."""
    return time.process_time_ns() - time.thread_time_ns()


def _function(row: Row) -> str:
    """The function that allocated the block: malloc or a relative, or a C-API function."""
    own = len(_native.RAW_MEMORY_FUNCTIONS)
    if row.function >= own:
        return _native.CAPI_ROWS[row.function - own][0]
    name = _native.RAW_MEMORY_FUNCTIONS[row.function]
    return _SHOWN.get(name[:3], name)


def _no_method(number: int) -> str:
    return ""


def _nowhere(code: int, lasti: int) -> Site:
    return NOWHERE


def _none(code: int) -> int:
    return 0


def _touches(
    row: Row, method: Callable[[int], str], at: Callable[[int, int], Site], stage: Callable[[int], int]
) -> tuple[Touch, ...]:
    """The call, with Python's line if its code is still known; then its callers as far as known."""
    name = _function(row)
    called = method(row.method)
    first, *outer = row.frames or (0,)
    symbol, source = native_line(first - 1) if first else (_UNSEEN, _UNSEEN)
    path = native_file(first - 1, source) if first else ""
    where = at(row.code, row.lasti)
    touches = [Touch("allocated", name, "", called, symbol, source, where, 0, path, stage(row.code))]
    for address in outer[: FRAMES_SHOWN - 1]:
        symbol, source = native_line(address - 1)
        name = symbol if isinstance(symbol, str) else "?"
        path = native_file(address - 1, source)
        touches.append(Touch("caller", name, "", called, symbol, source, NOWHERE, 0, path))
    return tuple(touches)


_UNSEEN = Unknown("its frames were not walked")


def _holder(row: Row, by_address: dict[int, Row]) -> str:
    """A short text of what reaches a block, also through other blocks."""
    for _ in range(len(by_address)):
        if row.word not in by_address:
            break
        row = by_address[row.word]
    if row.kind == "static":
        spot = place(row.word)
        name = f"static {spot.symbol}" if isinstance(spot.symbol, str) else "a static"
        return f"{name} of {library_of(spot.library)}" if isinstance(spot.library, str) else name
    words = {
        "object": "an object",
        "block": "a block of C memory",
        "frame": "a frame of Python",
        "disguised": "its address in disguise",
    }
    return words.get(row.kind, "a C stack" if row.kind == "stack" else "memory of C")
