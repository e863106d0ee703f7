"""The ledger while code runs: patches the hooks that record references and restores all on every exit.

The result is raw (`Found`): suspects.py searches owners and makes facts. A trace and a ledger exclude each
other, because both patch the process's function pointers.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from inspector import _native
from inspector.facts.leaks import WatchedModule
from inspector.ledger.raw_memory import RawMemory
from inspector.ledger.watched import Armed, Makers, adopt, watched
from inspector.objects.classes import full_name
from inspector.tracing.arm.bound_functions import authored
from inspector.tracing.arm.capi_slots import CapiSlots
from inspector.tracing.arm.imports import ImportWatch
from inspector.tracing.arm.targets import Targets, fits
from inspector.tracing.arm.type_files import subclasses
from inspector.tracing.arm.type_slots import Purpose, TypeSlots
from inspector.tracing.record.recorder import take_turn, turn_is_over

SUSPECTS_MAX: Final = 1 << 14
"""Most objects returned at the end; the rest are counted."""


@dataclass(slots=True)
class Found:
    """The ledger's content when it was closed; the caller must call `release`."""

    rows: list[_native.LedgerRow]
    faults: list[_native.LedgerFault]
    left_out: int
    not_noted: int
    targets: Targets
    numbers: list[int]
    """Of the hooked callables of `targets`, in order."""
    type_slots: Mapping[int, str]
    """Number of a type slot -> its name."""
    slots: Mapping[int, str]
    """Number of a slot -> its module."""
    hosts: frozenset[str]
    """Those of them that are, or belong to, a program that embeds this Python."""
    interned: list[Any]
    cells: Mapping[str, int]
    wall_ns: int
    dangling: list[_native.DanglingRow]
    without_trampoline: Mapping[str, int] = field(default_factory=dict)
    """Path of a chosen library -> number of its import slots that could not be hooked."""
    watched: tuple[WatchedModule, ...] = ()
    stages: tuple[int, ...] = ()
    """Of each stage the first number of its code objects in `interned`."""
    faults_before: tuple[int, ...] = ()
    """Of each stage the number of faults before it."""
    frames_from: int = 0
    """Stack address; frames of a host at and above it are still running; 0: none is."""

    def method(self, number: int) -> str:
        """Name of the method whose number is one less; "" for none."""
        at = self.targets.index(number - 1, self.numbers)
        return self.type_slots.get(number - 1, "") if at is None else self.targets.names[at]

    def function(self, number: int) -> int:
        """Address of the C function of the method whose number is one less; 0 for none.

        The author's, if a binding calls all by one function of its own.
        """
        at = self.targets.index(number - 1, self.numbers)
        own = authored(self.targets.callables[at]) if at is not None else 0
        return own or (_native.calls_function(number - 1) if number else 0)

    def ender(self, kind: int, collected: bool) -> tuple[str, int]:
        """Name and address of what ends instances of the watched type at this address: its tp_dealloc.

        In a collection its tp_clear, if it has one, has run before.
        """
        found = next((one for one in self.targets.types if id(one) == kind), None)
        dealloc, clear = _native.instances_enders(found) if found else (0, 0)
        clears = collected and clear
        slot = "tp_clear" if clears else "tp_dealloc"
        return (f"{full_name(found)}.{slot}", clear if clears else dealloc) if found else ("", 0)

    def stage(self, code: int) -> int:
        """The stage in which a code object got its number; 0 if it is unknown."""
        return bisect_right(self.stages, code) if code else 0

    def release(self, keep: set[int]) -> None:
        """Free the objects kept, except the addresses in `keep`; a second call does nothing."""
        self.rows, self.dangling = [], []
        _native.ledger_release(keep)


@dataclass(slots=True)
class Ledger:
    """Patches and restores; `modules` as in `inspector.trace`, none: every extension module."""

    modules: tuple[str, ...]
    cells: Mapping[str, int] = field(default_factory=dict)
    hosts: bool = False
    """Record references that a program embedding this Python obtains, too."""
    late: bool = False
    """Modules that cannot be found yet may be imported later: the program has not set its path."""
    raw_memory: RawMemory = field(default_factory=RawMemory)
    found: Targets = field(default_factory=Targets)
    numbers: list[int] = field(default_factory=list)
    slots: CapiSlots | None = None
    types: TypeSlots = field(default_factory=lambda: TypeSlots(Purpose.LEDGER))
    watch: ImportWatch | None = None
    began_ns: int = 0
    makers: Makers = field(default_factory=Makers)
    has_made: bool = False
    """Whether an import made types or functions that were not looked for yet."""
    stages: list[int] = field(default_factory=list)
    faults_before: list[int] = field(default_factory=list)
    passed_over: str = ""
    """`co_filename` (by identity) of the code that calls the watched function; its frames are skipped."""

    def start(self) -> None:
        """Patch. Raises InspectorError `trace-running` while a trace or another ledger runs."""
        self.found, self.numbers = Targets.known(self.modules, buffers=False), []
        self.types = TypeSlots(Purpose.LEDGER)
        if not self.late:
            self.found.require()
        take_turn()
        try:
            self._arm()
            if self.found.has_hidden:
                self._adopt()
            self.raw_memory.open()
            modules = self.modules or self.found.packages()
            self.slots = CapiSlots(modules, "ledger", self.hosts, also=_native.raw_memory_arm)
            self.slots.adopts = not self.modules
            self.slots.begin()
            self.watch = ImportWatch(self._arm_imported, self._is_named, self.makers.note)
            self.watch.begin()
            _native.got_clear_counts()
            _native.ledger_open(self.passed_over)
            self.raw_memory.begin_run()
            self.began_ns = time.monotonic_ns()
        except BaseException:
            self.stop().release(set())
            self.raw_memory.close()
            raise

    def stage(self) -> None:
        """Begin a stage: each touch, fault and block tells in which it happened."""
        self.faults_before.append(_native.ledger_settle())
        self.stages.append(_native.interned_renew())

    def _arm(self) -> None:
        """Hook the functions imported since the last call."""
        _native.freeing_arm()
        self.found.look()
        _native.instances_watch(self.found.types, [])  # before hooks refer to them
        _native.instances_watch([], subclasses(self.found.types))
        self.numbers += _native.methods_arm(self.found.callables[len(self.numbers) :])
        self.types.widen(self.found.types)

    def _arm_imported(self) -> None:
        self.has_made |= self.makers.imported()
        self._arm()
        if self.has_made and self.watch is not None and self.watch.is_outermost:  # else types are half made
            self.has_made = False
            self._adopt()

    def _adopt(self) -> None:
        self.found.has_hidden = False
        for module in self.modules:
            adopt(module, self.found, self.numbers)
        if len(self.found.callables) > len(self.numbers):
            self._arm()

    def _is_named(self, name: str) -> bool:
        """Whether a module was asked for: it is hooked although the import that it is a part of goes on."""
        return any(fits(name, pattern) for pattern in self.modules)

    def stop(self, frames_from: int = 0) -> Found:
        """Restore, and return what was recorded; `frames_from` as in `Found`."""
        wall_ns = time.monotonic_ns() - self.began_ns
        try:
            hosts = frozenset((self.slots and self.slots.hosts) or ())
            without_trampoline = self.slots.without_trampoline() if self.slots else {}
            armed = self.slots and Armed(
                self.found, self.numbers, self.types, self.slots, self.makers.by_imports
            )
            slots = _native.got_slots()
            seen = watched(self.modules, armed, slots) if armed else ()
            self.found.has_hidden |= any(one.unhooked for one in seen)
            self._disarm()
            rows, faults, left_out, not_noted, _kept, dangling = _native.ledger_close(SUSPECTS_MAX)
            own = _native.numpy_table_slots()
            return Found(
                rows=rows,
                faults=faults,
                left_out=left_out,
                not_noted=not_noted,
                targets=self.found,
                numbers=self.numbers,
                type_slots=self.types.names,
                slots={slot[0]: slot[1] for some in (slots, own) for slot in some},
                hosts=hosts,
                interned=_native.interned(),
                cells=self.cells,
                wall_ns=wall_ns,
                dangling=dangling,
                without_trampoline=without_trampoline,
                watched=seen,
                stages=tuple(self.stages),
                faults_before=tuple(self.faults_before),
                frames_from=frames_from,
            )
        finally:
            _native.interned_clear()
            turn_is_over()

    def _disarm(self) -> None:
        self.raw_memory.end_run()
        if self.watch is not None:
            self.watch.end()
        if self.slots is not None:
            self.slots.end()
        self.types.end()
        _native.calls_disarm()
        _native.freeing_disarm()
        self.watch = self.slots = None
