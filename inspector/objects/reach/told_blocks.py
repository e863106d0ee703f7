"""Blocks of live objects of which only their library knows where they lie, and who maps shared memory."""

# SPDX-License-Identifier: MIT
from contextlib import suppress
from typing import Any, Final

from inspector import _native
from inspector.binaries.smaps import Area
from inspector.objects.classes import type_module
from inspector.objects.reach.reached import blocks_of, has_blocks

MOST_ARRAYS: Final = 20_000
"""Objects whose adapter is asked for their buffers."""
_READ_IN_C: Final = ("builtins", "numpy", "pandas", "array", "_ctypes", "ctypes", "scipy")
"""Modules whose buffers the walk in C reads itself, or which consist of those."""
_SHARED: Final = ("/dev/shm/", "/memfd:", "/SYSV", "/dev/zero")
_MAPPING: Final = ("multiprocessing.shared_memory", "mmap")

Told = tuple[tuple[int, int, Any], ...]
"""Start and stop of a block, and the object that has it."""


def told() -> Told:
    """Buffers of live objects whose library alone knows where they are."""
    every = _native.tracked_objects()
    kinds = {id(kind): kind for kind in map(type, every)}  # a metaclass may define __hash__
    asked = {at for at, kind in kinds.items() if _asks(kind)}
    found = [one for one in every if id(type(one)) in asked][:MOST_ARRAYS] if asked else []
    del every
    rows = list[tuple[int, int, Any]]()
    for one in found:
        with suppress(Exception):  # a closed or half-built one: its memory stays unexplained
            spans = ((block.range.start, block.range.stop) for block in blocks_of((one,)))
            rows += [(int(start), int(stop), one) for start, stop in spans if start < stop]
    return tuple(rows)


def _asks(kind: type) -> bool:
    return type_module(kind).partition(".")[0] not in _READ_IN_C and has_blocks(kind)


def mapped(found: list[Area], blocks: Told) -> list[tuple[_native.Subject, int]]:
    """The objects that map shared memory, a row a mapping: the walk in C divides private memory alone.

    Of several objects over one mapping it is the one that keeps it: SharedMemory, its mmap, then any other.
    """
    areas, made = {area.start: area for area in found if is_shared(area)}, dict[int, Any]()
    for start, _, one in sorted(blocks, key=lambda row: _rank(row[2])) if areas else ():
        if start in areas:
            made.setdefault(start, one)
    return [(_native.Subject(one), areas[start].resident) for start, one in made.items()]


def _rank(one: Any) -> int:
    module = type_module(type(one))
    return _MAPPING.index(module) if module in _MAPPING else len(_MAPPING)


def is_shared(area: Area) -> bool:
    """Whether other processes may map its pages too, and no file on a disk has them."""
    return area.path.startswith(_SHARED) or (area.permissions.endswith("s") and not area.path)
