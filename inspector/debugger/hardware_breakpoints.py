"""Hardware breakpoints without gdb: at most four functions of this process."""

# SPDX-License-Identifier: MIT
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
"""Modes that need no arguments, which only gdb reads."""
ADDRESSES_MAX: Final = 4
"""DR0 to DR3 (Intel 64 manual, volume 3)."""
MEANS: Final = "hardware breakpoints, nothing stopped"
_NOT_READ: Final = Unknown("not recorded: use record='full', which needs gdb")
_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_FLAGS: Final = os.RTLD_LAZY | os.RTLD_NOLOAD


class HardwareHits:
    """Armed breakpoints; `end` disarms them and returns the facts."""

    def __init__(self, places: Sequence[Asked], addresses: list[int], record: str, depth: int) -> None:
        self._places, self._addresses = places, addresses
        self._record, self._depth = record, depth

    def end(self) -> Hits:
        """Disarm; the recorded hits."""
        rows, counts = _native.hardware_breakpoints_disarm()
        names = {at: one.place for at, one in zip(self._addresses, self._places, strict=True)}
        hits = tuple(self._hit(n, names, row) for n, row in enumerate(rows, 1))
        places = tuple(
            PlaceCount(one.place, 1, count, "") for one, count in zip(self._places, counts, strict=True)
        )
        return Hits(places, hits, sum(counts) - len(hits), 0, 0, "", MEANS)

    def _hit(self, number: int, names: dict[int, str], row: tuple[Any, ...]) -> Hit:
        at_ns, thread, address, *_, native, python = row
        inner = [native[0] + 1, *native[1:]] if native else []  # its first instruction, not a return address
        return Hit(number, names[address], at_ns, _NOT_READ, stack_of(thread, inner, python, self._depth))


def armed(
    places: Sequence[Asked], record: str, budget: int, depth: int, all_threads: bool
) -> HardwareHits | None:
    """Arm; None where gdb is needed: for arguments, conditions, lines, more places, or on a refusal."""
    found = _addresses(places) if record in RECORDS else None
    if found is None:
        return None
    threads = proc.threads(os.getpid()) if all_threads else [threading.get_native_id()]
    made = HardwareHits(places, found, record, depth)
    try:
        only, kept = 0 if all_threads else threads[0], 0 if record == "count" else budget
        _native.hardware_breakpoints_arm(found, threads, only, kept)
    except (OSError, RuntimeError):  # perf_event_open refused; registers in use; a watch on writes runs
        return None
    return made


def _addresses(places: Sequence[Asked]) -> list[int] | None:
    """The addresses of the places; None where one is not exactly one exported function."""
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
    """The addresses of a function's definitions in all loaded files (dlsym(3))."""
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
        libc.dlclose(handle)  # only drops our reference
        if at and any(one.path == path and one.start <= at < one.stop for one in code):
            yield at
