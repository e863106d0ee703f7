"""A running trace: patch the sources, record events, and restore everything on every exit."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import CodeType
from typing import TYPE_CHECKING, Any, Final, Literal

from inspector import _native
from inspector.errors import InspectorError
from inspector.objects.classes import type_module
from inspector.tracing.arm.allocation_slots import AllocationSlots, caller
from inspector.tracing.arm.capi_slots import GRADES, CapiSlots
from inspector.tracing.arm.foreign_calls import ForeignSlots, names
from inspector.tracing.arm.imports import ImportWatch
from inspector.tracing.arm.materializing import Materializations
from inspector.tracing.arm.numpy_table import callers_of_numpy
from inspector.tracing.arm.pointers import Pointers, hooked, with_pointers
from inspector.tracing.arm.targets import Targets
from inspector.tracing.arm.type_slots import TypeSlots
from inspector.tracing.events.call_counts import Counts
from inspector.tracing.events.name_tables import Tables
from inspector.tracing.record import reported_spans
from inspector.tracing.record.heartbeat import Pulse, Told
from inspector.tracing.record.hooked import slots_of, told

if TYPE_CHECKING:
    from inspector.tracing.arm.torch_operators import Operators
    from inspector.tracing.events.decode import Events
    from inspector.tracing.record.streamed import Stream

Grade = Literal["count", "record", "deep"]
CAPACITY: Final = 1 << 19
"""Records in a thread's ring: 32 MiB; pages are touched only when written."""
ALL_RINGS_BYTES: Final = 128 << 20
BOTH_CLOCKS: Final = 2
JOURNAL_BYTES: Final = 16 << 20
NOTHING_YET: Final = ("",)
"""A pattern that matches no module, for when no package with an extension is imported yet."""
_one_at_a_time = threading.Lock()


def take_turn() -> None:
    """Reserve the hooks for the caller. Raises InspectorError `trace-running` if a trace or a ledger runs."""
    if not _one_at_a_time.acquire(blocking=False):
        raise InspectorError(
            "another trace is running.",
            slug="trace-running",
            why="function pointers are the process's own: two traces would undo each other",
            do="end the other trace first",
        )


def turn_is_over() -> None:
    """Release the reservation of `take_turn`."""
    _one_at_a_time.release()


@dataclass(slots=True)
class Recorder:
    """Patches the sources that a trace needs; `stop` restores them and returns the events."""

    modules: tuple[str, ...]
    grade: Grade = "record"
    cells: Mapping[str, int] = field(default_factory=dict)
    allocations: bool = True
    """Record what allocated the results' memory; never with grade count."""
    found: Targets = field(init=False)
    numbers: list[int] = field(init=False)
    imports: CapiSlots | None = None
    blocks: AllocationSlots | None = None
    foreign: ForeignSlots = field(init=False)
    slots: TypeSlots = field(init=False)
    watch: ImportWatch | None = None
    running: bool = False
    began_ns: int = 0
    hosts: bool = False
    """Record the C-API calls of a program that embeds this Python."""
    pointers: bool = False
    """Hook also function pointers to Python in libraries' own data."""
    directory: str = ""
    """Folder of the rings' files, which survive a killed process. "": in memory only."""
    journal: str = ""
    """File beside them for the meaning of interned numbers."""
    each: bool = False
    """Keep a record of each of the last calls, also of those that repeat; else these are added up."""
    native: bool = False
    """Record the native frames of conversions and blocks; implies grade deep."""
    every: int = 1
    """Record one of so many calls from Python, with all nested records."""
    stream: Stream | None = None
    """The file for every record; None: the last records stay in memory."""
    materialized: Materializations = field(init=False)
    operators: Operators | None = None
    """torch's; None: not watched."""
    armed: Callable[[Tables], None] | None = None
    """Called with the tables each time that more is hooked."""
    told: Told | None = None
    """Called with the progress, from another thread."""
    pulse: Pulse | None = None
    counts: Counts | None = None

    def start(self) -> None:
        """Patch. Raises InspectorError `trace-running` while another trace runs."""
        self.found, self.numbers = Targets.known(self.modules), []
        self.foreign, self.slots = ForeignSlots(self.modules), TypeSlots()
        self.materialized = Materializations()
        self.found.require()
        reported_spans.prepare()
        take_turn()
        try:
            if self.told is not None:
                self.pulse = Pulse(self.told)
                self.pulse.begin()
            if self.journal:
                _native.journal(self.journal, JOURNAL_BYTES)
            self._begin_rings()
            _native.stacks_open(self.native)
            self._arm()
            chosen = self.modules or self.found.packages() or NOTHING_YET
            pointers = Pointers(self.modules, GRADES[self.grade]) if self.pointers else None
            self.imports = CapiSlots(chosen, self.grade, self.hosts, pointers)
            self.imports.begin()
            if self.allocations and self.grade != "count":
                self.blocks = AllocationSlots()
                self.blocks.begin()
            self.watch = ImportWatch(self._widen)
            self.watch.begin()
        except OSError as error:  # a file of records, where the disk is full
            self.leave()
            raise InspectorError(
                f"cannot write {error.filename}: {error.strerror}.",
                slug="unwritable-file",
                do="give a folder with room for it",
            ) from None
        except BaseException:
            self.leave()
            raise
        self._tell()
        self.materialized.begin()
        if self.operators is not None:
            self.operators.begin()
        _native.ask_spans(reported_spans.asker())
        self.began_ns = time.monotonic_ns()
        _native.calls_of_stdlib(self.found.wants_stdlib())
        self.counts = Counts(self.grade == "count")
        _native.calls_open(True)
        _native.foreign_open(self.grade != "count")
        _native.allocations_open(self.blocks is not None)

    def _begin_rings(self) -> None:
        last = "last" if self.each else "sums"
        mode = "stream" if self.stream else "sample" if self.every > 1 else last
        file = self.stream.begin() if self.stream else -1
        _native.ring_begin(self.directory, CAPACITY, mode, self.every, BOTH_CLOCKS, ALL_RINGS_BYTES, file)
        self.running = True

    def _arm(self) -> bool:
        """Hook functions imported since; return whether there are new ones."""
        known = len(self.found.names)
        more = self.blocks is not None and self.blocks.widen()
        if self.grade != "count":
            self.foreign.widen()  # before the C API's slots, which then take precedence
        self.found.look()
        self.numbers += _native.methods_arm(self.found.callables[len(self.numbers) :])
        if self.grade != "count":
            self.slots.widen(self.found.types)
        return more or len(self.found.names) > known

    def _widen(self) -> None:
        """Called when an import has ended."""
        packages = self.found.packages()
        if _native.unrecorded(reported_spans.prepare):
            _native.ask_spans(reported_spans.asker())  # clears the types that no adapter knew before
        if self.operators is not None:
            _native.unrecorded(self.operators.widen)
        more = self._arm()
        if not self.modules and self.imports is not None and self.found.packages() != packages:
            self.imports.choose(self.found.packages())
        if self.imports is not None:
            self.imports.look_again()
        if more:
            self._tell()

    def _tell(self) -> None:
        if self.armed is not None:
            self.armed(self._told())

    def _told(self) -> Tables:
        """The tables for the numbers in records, as known now."""
        hosts = self.imports.hosts if self.imports is not None else None
        slots = slots_of(_native.got_hooked())
        without_trampoline = self.imports.without_trampoline() if self.imports is not None else {}
        tables = told(self.found, self.numbers, slots, hosts or (), self.foreign.paths, without_trampoline)
        if self.blocks is not None:
            tables.askers, tables.givers = dict(slots.allocating), _native.ALLOCATORS
        tables.import_modules |= callers_of_numpy()
        tables.counted = self.counts.so_far(slots.importing) if self.counts is not None else ()
        tables.names |= self.slots.names
        tables.modules |= self.slots.modules
        return tables

    def stop(self) -> Events:
        """Restore, and return the recorded events."""
        _native.calls_open(False)  # calls from here on are our own
        try:
            tables, words = self._told(), hooked() if self.pointers else []
            wall_ns, rings = self._disarm()
            called, modules = names() if self.grade != "count" else ({}, {})
            seen = with_pointers(tables.seen, words)
            tables = replace(tables, names=tables.names | called, modules=tables.modules | modules, seen=seen)
            made = self._events(rings, wall_ns, tables)
            ran = self.operators.found() if self.operators is not None else ()
            return replace(made, outdone=self.blocks is not None and self.blocks.outdone, operators=ran)
        finally:
            self._forget()

    def leave(self) -> int:
        """Restore without reading the rings, which are files; return nanoseconds since the start."""
        _native.calls_open(False)  # calls from here on are our own
        try:
            if self.watch is not None:
                self._tell()  # libraries loaded without an import
            return self._disarm()[0]
        finally:
            self._forget()

    def _disarm(self) -> tuple[int, tuple[Any, ...]]:
        """Restore every pointer; return nanoseconds since the start, and the rings."""
        _native.allocations_open(False)
        _native.calls_open(False)
        wall_ns = time.monotonic_ns() - self.began_ns
        _native.ask_spans(None)
        self.materialized.end()
        for source in (self.operators, self.watch, self.imports, self.blocks, self.foreign, self.slots):
            if source is not None:
                source.end()
        _native.calls_disarm()
        _native.stacks_open(False)
        if self.pulse is not None:
            self.pulse.end()
        return wall_ns, _native.ring_end() if self.running else ([], 0, 0, 0)

    def _forget(self) -> None:
        self.running = False
        self.watch = self.imports = self.blocks = self.pulse = None
        _native.interned_clear()
        if self.journal:
            _native.journal("", 0)
        turn_is_over()

    def _events(self, rings: tuple[Any, ...], wall_ns: int, tables: Tables) -> Events:
        from inspector.tracing.events.assembling import assembled
        from inspector.tracing.events.native_frames import named
        from inspector.tracing.record.allocations import callers

        made = assembled(
            rings[0] if self.stream is None else self.stream.end(rings[0], rings[3]),
            refused=rings[1],
            interned=[_meant(one) for one in _native.interned()],
            tables=tables,
            cells=self.cells,
            tick_ps=_native.ring_clock()[2],
            wall_ns=wall_ns,
            grade=self.grade,
        )
        came = tuple(self.materialized.rows)
        frames = named(_native.stacks()) if self.native else {}
        return replace(made, callers=callers(made.records, caller), materialized=came, stacks=frames)


_name_of = type.__dict__["__qualname__"].__get__


def _meant(one: Any) -> str | CodeType:
    """A code object as it is; for a type its full name, from its struct."""
    if isinstance(one, CodeType):
        return one
    if not isinstance(one, type):
        return ""
    module = type_module(one)
    return f"{module}.{_name_of(one)}" if module not in ("", "builtins") else _name_of(one)
