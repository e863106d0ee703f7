"""A trace while it runs: sources are armed, events recorded, and everything put back on every way out."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from inspector import _native
from inspector.errors import InspectorError
from inspector.facts.conversion import Seen
from inspector.tracing import asking, decode, sites
from inspector.tracing.allocations import AllocationSlots, callers, library_of
from inspector.tracing.decode import Events
from inspector.tracing.imports import ImportWatch
from inspector.tracing.sources import CapiSlots
from inspector.tracing.targets import Targets

Grade = Literal["count", "record", "deep"]
CAPACITY: Final = 1 << 19
"""Records a thread's ring holds: 32 MiB, of which only what is written is touched."""
ALL_RINGS_BYTES: Final = 128 << 20
BOTH_CLOCKS: Final = 2
ALLOCATOR: Final = -2
"""Row that `got_slots` gives for a slot through which memory is asked for."""
_one_at_a_time = threading.Lock()


@dataclass(slots=True)
class Recorder:
    """Arms the sources that a trace asks for; `stop` disarms them and gives the events."""

    modules: tuple[str, ...]
    grade: Grade = "record"
    cells: Mapping[str, int] = field(default_factory=dict)
    allocations: bool = True
    """Record who asked for the memory that results lie in; never with grade count."""
    found: Targets = field(default_factory=Targets)
    numbers: list[int] = field(default_factory=list)
    imports: CapiSlots | None = None
    blocks: AllocationSlots | None = None
    watch: ImportWatch | None = None
    running: bool = False
    began_ns: int = 0

    def start(self) -> None:
        """Arm. Raises InspectorError `trace-running` while another trace runs."""
        self.found, self.numbers = Targets(self.modules), []
        self.found.require()
        asking.prepare()
        if not _one_at_a_time.acquire(blocking=False):
            raise InspectorError(
                "another trace is running.",
                slug="trace-running",
                why="function pointers are the process's own: two traces would undo each other",
                do="end the other trace first",
            )
        try:
            _native.ring_begin("", CAPACITY, "last", 1, BOTH_CLOCKS, ALL_RINGS_BYTES, -1)
            self.running = True
            self._arm()
            self.imports = CapiSlots(self.modules or self.found.packages(), self.grade)
            self.imports.begin()
            if self.allocations and self.grade != "count":
                self.blocks = AllocationSlots()
                self.blocks.begin()
            self.watch = ImportWatch(self._arm)
            self.watch.begin()
        except BaseException:
            self.stop()
            raise
        _native.ask_spans(asking.spans)
        self.began_ns = time.monotonic_ns()
        _native.calls_open(True)
        _native.allocations_open(self.blocks is not None)

    def _arm(self) -> None:
        """Hook the functions that have been imported since."""
        if self.blocks is not None:
            self.blocks.widen()
        self.found.look()
        self.numbers += _native.methods_arm(self.found.callables[len(self.numbers) :])

    def stop(self) -> Events:
        """Disarm, and read what was recorded."""
        _native.allocations_open(False)
        _native.calls_open(False)
        wall_ns = time.monotonic_ns() - self.began_ns
        _native.ask_spans(None)
        if self.watch is not None:
            self.watch.end()
        patched = [slot for slot in _native.got_slots() if slot[6]]
        slots = [slot for slot in patched if slot[3] != ALLOCATOR]
        askers = {slot[0]: library_of(slot[1]) for slot in patched if slot[3] == ALLOCATOR}
        if self.imports is not None:
            self.imports.end()
        givers = _native.ALLOCATORS if self.blocks is not None else ()
        if self.blocks is not None:
            self.blocks.end()
        _native.calls_disarm()
        try:
            rings = _native.ring_end() if self.running else ([], 0, 0, 0)
            return replace(self._events(rings, wall_ns, slots), givers=givers, askers=askers)
        finally:
            self.running = False
            self.watch = self.imports = self.blocks = None
            _native.interned_clear()
            _one_at_a_time.release()

    def _events(self, rings: tuple[Any, ...], wall_ns: int, slots: list[Any]) -> Events:
        records, thread, threads, dropped = decode.joined(rings[0])
        interned = _native.interned()
        located = (records["flags"] & decode.FLAGS["DEEP"]) != 0
        places, site = sites.resolved(records, located, interned, self.cells)
        return Events(
            records=records,
            thread=thread,
            threads=threads,
            types=tuple(_type_name(one) for one in interned),
            sites=places,
            site=site,
            names=dict(zip(self.numbers, self.found.names, strict=False)),
            modules=dict(zip(self.numbers, self.found.modules, strict=False)),
            seen=self._seen(slots),
            import_modules={slot[0]: library_of(slot[1]) for slot in slots},
            hooked_imports=len(slots),
            callers=callers(records),
            tick_ps=_native.ring_clock()[2],
            dropped=dropped + rings[1],
            wall_ns=wall_ns,
            grade=self.grade,
        )

    def _seen(self, slots: list[Any]) -> tuple[Seen, ...]:
        """Per package: functions hooked, those that cannot be by kind, import slots hooked."""
        packages = dict.fromkeys(name.partition(".")[0] for name in self.found.modules)
        return tuple(
            Seen(
                module=package,
                functions_hooked=sum(
                    number >= 0 and name.partition(".")[0] == package
                    for number, name in zip(self.numbers, self.found.modules, strict=False)
                ),
                functions_unseen=self.found.unseen_of(package),
                imports_hooked=sum(slot[3] >= 0 for slot in slots if f"/{package}/" in slot[1]),
                imports=sum(f"/{package}/" in slot[1] for slot in slots),
            )
            for package in packages
        )


_name_of = type.__dict__["__qualname__"].__get__
_module_of = type.__dict__["__module__"].__get__


def _type_name(one: Any) -> str:
    """The full name of a type, as its struct says it; "" for anything else."""
    if not isinstance(one, type):
        return ""
    module = _module_of(one)
    return f"{module}.{_name_of(one)}" if isinstance(module, str) and module != "builtins" else _name_of(one)
