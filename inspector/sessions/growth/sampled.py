"""Sampled allocations: which lines asked for memory that is still in use."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from itertools import pairwise
from pathlib import PurePath
from types import CodeType
from typing import Final

from inspector import _native
from inspector.binaries.addresses import place
from inspector.facts.account import Account, brief, grown
from inspector.facts.conversion import Site
from inspector.facts.growth import Growth, GrowthSource
from inspector.facts.native import Place
from inspector.facts.unknown import Unknown
from inspector.objects.call_site import is_users
from inspector.objects.layers.pages import resident_bytes
from inspector.objects.probes.account import accounted
from inspector.tracing.arm.imports import ImportWatch, LoadWatch
from inspector.tracing.events.code_places import NOWHERE, of_code

SAMPLE_BYTES: Final = 1 << 19
"""Mean distance of two samples."""
PAGED_BYTES: Final = 1 << 16
"""Of larger blocks only what is resident counts."""
MOST_SOURCES: Final = 100
_RUNTIME: Final = ("libc.so", "libstdc++.so", "libgcc_s.so", "libm.so", "ld-linux")
"""Libraries that ask for memory on behalf of another."""
_MAPPING: Final = ("mmap", "mmap64")

_Row = tuple[int, int, int, int, int]
_Frames = tuple[list[tuple[CodeType, int]], tuple[int, ...], int]


class Sampled:
    """The block. While another one is open, or where nothing can be hooked, it samples nothing.

    Its cost is a subtraction for each allocation of a library or of Python, and microseconds a sample. It is
    made before the block, and read after it: neither makes an object that a census of the block would count.
    """

    def __init__(
        self,
        cells: Mapping[str, int] | None = None,
        *,
        borrows: bool = False,
        named: Callable[[int], Place] = place,
    ) -> None:
        self._borrows, self._named = borrows, named  # where references are counted: it takes none
        self._cells = cells or {}
        self._resident = resident_bytes()
        self._imports, self._loads = ImportWatch(self._widen), LoadWatch(self._widen)
        self._is_open = False
        self._has_samples = False

    def __enter__(self) -> Sampled:
        with suppress(RuntimeError):  # another one is open, a leaks block, or this is a sub-interpreter
            _native.growth_begin(SAMPLE_BYTES, self._borrows)
            self._is_open = True
            self._imports.begin()
            self._loads.widen()
        return self

    def _widen(self) -> None:
        """What was loaded meanwhile is hooked too."""
        with suppress(RuntimeError):
            _native.growth_widen()
        self._loads.widen()

    def __exit__(self, *raised: object) -> None:
        if self._is_open:
            self._imports.end()
            self._loads.end()
            _native.growth_end()
            self._is_open, self._has_samples = False, True

    def forget(self) -> None:
        """Let go of the samples unread; a second call does nothing."""
        if self._has_samples:
            _native.growth_forget()
            self._has_samples = False

    def growth(self, before: Account | None = None) -> Growth:
        """What the block left; with the account of the time before, also by row of the account. Once."""
        change = resident_bytes() - self._resident
        both = (before, accounted()[0]) if before is not None else ()  # before symbols are looked up
        rows, sites, dropped, watched = _native.growth_read() if self._has_samples else ([], {}, 0, 0)
        sources = _sources(rows, sites, watched, self._cells, self._named)
        mean = SAMPLE_BYTES if self._has_samples else 0
        self.forget()
        if not self._is_open:  # they refer to this one: a collection would free them in a later block
            for name in ("_imports", "_loads"):
                vars(self).pop(name, None)
        more = grown(*both) if both else ()
        return Growth(change, more, sources, mean, dropped, watched, (), tuple(map(brief, both)))


def _sources(
    rows: list[_Row],
    sites: Mapping[int, _Frames],
    watched: int,
    cells: Mapping[str, int],
    place_of: Callable[[int], Place],
) -> tuple[GrowthSource, ...]:
    named = cache(lambda address: place_of(address - 1))
    groups: dict[tuple[object, ...], list[float]] = defaultdict(lambda: [0.0] * 5)
    first = dict[tuple[object, ...], tuple[Site, str, str, tuple[Place, ...], tuple[str, ...], bool]]()
    lengths = defaultdict[tuple[object, ...], Counter[int]](Counter)
    for (_, length, ns, number, function), bytes_ in zip(rows, _sizes(rows), strict=True):
        python, native, beside = sites.get(number, ([], (), 0))
        places = tuple(map(named, native))
        site, path = _line(python, cells)
        allocator = _native.GROWTH_FUNCTIONS[function]
        library = _library(places)
        key = site, library, beside
        first.setdefault(key, (site, library, allocator, places, path, bool(beside)))
        group = groups[key]
        group[min(3, 4 * ns // max(watched, 1))] += bytes_
        group[4] += 1
        lengths[key][length] += 1
    made = [_source(*first[key], group, lengths[key]) for key, group in groups.items()]
    return tuple(sorted((one for one in made if one.bytes), key=lambda one: -one.bytes)[:MOST_SOURCES])


def _source(
    site: Site,
    library: str,
    allocator: str,
    places: tuple[Place, ...],
    path: tuple[str, ...],
    beside: bool,
    group: list[float],
    lengths: Counter[int],
) -> GrowthSource:
    quarters = (round(group[0]), round(group[1]), round(group[2]), round(group[3]))
    native = tuple(f"{_file(one.library)} {one.symbol}" for one in places if isinstance(one.symbol, str))
    each, alike = max(lengths.items(), key=lambda row: row[0] * row[1])
    return GrowthSource(
        sum(quarters), round(group[4]), site, library, allocator, path, native, quarters, beside, alike, each
    )


def _line(python: list[tuple[CodeType, int]], cells: Mapping[str, int]) -> tuple[Site, tuple[str, ...]]:
    """The user's line, else the innermost one; and the functions that it called."""
    at = next((at for at, (code, _) in enumerate(python) if is_users(code.co_filename)), 0)
    if not python:
        return NOWHERE, ()
    code, instruction = python[at]
    path = tuple(inner.co_qualname for inner, _ in python[:at])
    return of_code(code, instruction, cells.get(code.co_filename, -1)), path


def _library(places: tuple[Place, ...]) -> str:
    """The innermost library that asked for itself; "" for none: Python's own code."""
    for one in places:
        file = _file(one.library)
        if file and not file.startswith(_RUNTIME):
            return file
    return ""


def _file(library: str | Unknown) -> str:
    return "" if isinstance(library, Unknown) else PurePath(library).name


def _sizes(rows: list[_Row]) -> list[float]:
    """What each sample stands for: its bytes by the chance to be sampled, as far as they are resident."""
    mapped = sorted(row[0] for row in rows if _native.GROWTH_FUNCTIONS[row[4]] in _MAPPING)
    next_one = dict(pairwise(mapped))
    made = []
    for address, length, *_ in rows:
        stop = min(address + length, next_one.get(address, address + length))
        share = _resident_share(address, stop) if length >= PAGED_BYTES else 1.0
        made.append((stop - address) * share / -math.expm1(-length / SAMPLE_BYTES))
    return made


def _resident_share(start: int, stop: int) -> float:
    found = _native.residency(((start, stop, 0),), 1)
    if found is None:
        return 1.0
    _, private, _, _, shared, *_ = found
    return min(1.0, (private + shared) / max(stop - start, 1))
