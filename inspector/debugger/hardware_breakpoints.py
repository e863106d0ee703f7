"""Breakpoints without gdb: at most four functions of this process, by the processor (native/watch/hardware_breakpoints.c)."""

from __future__ import annotations

import ctypes
import os
import re
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from inspector import _native
from inspector.debugger.memory import proc
from inspector.debugger.memory.trapped import stack_of
from inspector.debugger.presets.places import Asked
from inspector.facts.stack import Hit, Hits, PlaceCount
from inspector.facts.unknown import Unknown

RECORDS: Final = ("count", "stacks")
"""What is known without arguments, which gdb reads."""
ADDRESSES_MAX: Final = 4
"""DR0 to DR3 (Intel 64 manual, volume 3)."""
MEANS: Final = "the processor's breakpoints, nothing stopped"
_NOT_READ: Final = Unknown("not asked: gdb reads them, record='full'")
_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_FLAGS: Final = os.RTLD_LAZY | os.RTLD_NOLOAD


class HardwareHits:
    """What is armed; `end` takes it away and gives the facts."""

    def __init__(self, places: Sequence[Asked], addresses: list[int], record: str, depth: int) -> None:
        self._places, self._addresses = places, addresses
        self._record, self._depth = record, depth

    def end(self) -> Hits:
        """Disarm."""
        rows, counts = _native.hardware_breakpoints_disarm()
        names = {at: one.place for at, one in zip(self._addresses, self._places, strict=True)}
        hits = tuple(self._hit(n, names, row) for n, row in enumerate(rows, 1))
        places = tuple(
            PlaceCount(one.place, 1, count, "") for one, count in zip(self._places, counts, strict=True)
        )
        return Hits(places, hits, sum(counts) - len(hits), 0, 0, "", MEANS)

    def _hit(self, number: int, names: dict[int, str], row: tuple[Any, ...]) -> Hit:
        at_ns, thread, address, *_, native, python = row
        inner = [native[0] + 1, *native[1:]] if native else []  # at its first instruction, not behind a call
        return Hit(number, names[address], at_ns, _NOT_READ, stack_of(thread, inner, python, self._depth))


def armed(
    places: Sequence[Asked], record: str, budget: int, depth: int, all_threads: bool
) -> HardwareHits | None:
    """Armed breakpoints; None where it takes gdb: arguments, conditions, lines, more places, or refused."""
    found = _addresses(places) if record in RECORDS else None
    if found is None:
        return None
    threads = proc.threads(os.getpid()) if all_threads else [threading.get_native_id()]
    made = HardwareHits(places, found, record, depth)
    try:
        only, kept = 0 if all_threads else threads[0], 0 if record == "count" else budget
        _native.hardware_breakpoints_arm(found, threads, only, kept)
    except (OSError, RuntimeError):  # perf is refused, the registers are taken, a watch on writes runs
        return None
    return made


def _addresses(places: Sequence[Asked]) -> list[int] | None:
    """Where the places are; None where one is no exported function, or more than one."""
    if len(places) > ADDRESSES_MAX:
        return None
    found = []
    for one in places:
        at = [] if one.condition or not _NAME.fullmatch(one.spec) else list(_exported(one.spec))
        if len(at) != 1:
            return None
        found += at
    return found if len(set(found)) == len(found) else None


def _exported(name: str) -> Iterator[int]:
    """Each definition of a function in the files that are loaded (dlsym(3))."""
    libc = ctypes.CDLL(None)
    libc.dlopen.restype = libc.dlsym.restype = ctypes.c_void_p
    libc.dlsym.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    libc.dlopen.argtypes, libc.dlclose.argtypes = [ctypes.c_char_p, ctypes.c_int], [ctypes.c_void_p]
    code = proc.code(os.getpid())
    program = str(Path("/proc/self/exe").resolve())
    for path in {mapping.path for mapping in code}:
        handle = libc.dlopen(None if path == program else os.fsencode(path), _FLAGS)
        if not handle:
            continue
        at = libc.dlsym(handle, name.encode())
        libc.dlclose(handle)  # only our count of it
        if at and any(one.path == path and one.start <= at < one.stop for one in code):
            yield at
