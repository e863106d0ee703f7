"""What code asked for and left in use: sampled allocations, a budget of memory, and a report of leaks."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import gc
import math
import time
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from itertools import pairwise
from pathlib import PurePath
from types import CodeType
from typing import Final

from inspector import _native
from inspector._native import Subject
from inspector.binaries.addresses import place
from inspector.debugger.attach.sampling import check_seconds
from inspector.errors import InspectorError
from inspector.facts.account import Account, grown
from inspector.facts.amounts import size
from inspector.facts.answers import Answers
from inspector.facts.conversion import Site
from inspector.facts.growth import Growth, GrowthSource
from inspector.facts.native import Place
from inspector.facts.unknown import Unknown
from inspector.objects.call_site import is_users
from inspector.objects.layers.pages import resident_bytes
from inspector.objects.ownership.paths import path_of
from inspector.objects.ownership.rows import type_name
from inspector.objects.probes.account import accounted
from inspector.report import Report
from inspector.sessions.memory import memory
from inspector.tracing.events.code_places import NOWHERE, of_code
from inspector.verdicts.answers.growth import asked_for
from inspector.verdicts.differences import LEAST_NATIVE_BYTES, grown_most, native_growth, watched_growth

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
IN_USE: Final = ("objects", "buffers", "lost", "r", "blocks", "mapped", "shared", "unexplained")
"""Rows of the account: not free memory that an allocator keeps, nor libraries and files."""
MOST_SHOWN: Final = 3
"""Objects whose path the message tells, a walk of the heap each."""


class Sampled:
    """The block. While another one is open, or where nothing can be hooked, it samples nothing.

    Its cost is a subtraction for each allocation of a library or of Python, and microseconds a sample. It is
    made before the block, and read after it: neither makes an object that a census of the block would count.
    """

    def __init__(self, cells: Mapping[str, int] | None = None, *, borrows: bool = False) -> None:
        self._borrows = borrows  # where references are counted: it takes none
        self._cells = cells or {}
        self._resident = resident_bytes()
        self._is_open = False
        self._has_samples = False

    def __enter__(self) -> Sampled:
        with suppress(RuntimeError):  # another one is open, or this is a sub-interpreter
            _native.growth_begin(SAMPLE_BYTES, self._borrows)
            self._is_open = True
        return self

    def __exit__(self, *raised: object) -> None:
        if self._is_open:
            _native.growth_end()
            self._is_open, self._has_samples = False, True

    def growth(self, before: Account | None = None) -> Growth:
        """What the block left; with the account of the time before, also by row of the account. Once."""
        change = resident_bytes() - self._resident
        more = grown(before, accounted()[0]) if before is not None else ()  # before symbols are looked up
        rows, sites, dropped, watched = _native.growth_read() if self._has_samples else ([], {}, 0, 0)
        sources = _sources(rows, sites, watched, self._cells)
        mean = SAMPLE_BYTES if self._has_samples else 0
        if self._has_samples:
            _native.growth_forget()
            self._has_samples = False
        return Growth(change, more, sources, mean, dropped, watched)


def _sources(
    rows: list[_Row], sites: Mapping[int, _Frames], watched: int, cells: Mapping[str, int]
) -> tuple[GrowthSource, ...]:
    named = cache(lambda address: place(address - 1))
    groups: dict[tuple[object, ...], list[float]] = defaultdict(lambda: [0.0] * 5)
    first = dict[tuple[object, ...], tuple[Site, str, str, tuple[Place, ...], tuple[str, ...], bool]]()
    for (_, _, ns, number, function), bytes_ in zip(rows, _sizes(rows), strict=True):
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
    made = [_source(*first[key], group) for key, group in groups.items()]
    return tuple(sorted((one for one in made if one.bytes), key=lambda one: -one.bytes)[:MOST_SOURCES])


def _source(
    site: Site,
    library: str,
    allocator: str,
    places: tuple[Place, ...],
    path: tuple[str, ...],
    beside: bool,
    group: list[float],
) -> GrowthSource:
    quarters = (round(group[0]), round(group[1]), round(group[2]), round(group[3]))
    native = tuple(f"{_file(one.library)} {one.symbol}" for one in places if isinstance(one.symbol, str))
    return GrowthSource(
        sum(quarters), round(group[4]), site, library, allocator, path, native, quarters, beside
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


class MemoryBudget:
    """The block: what its end has more in use than its beginning, by the account, is at most `most` bytes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._before: Account | None = None
        self._large = dict[int, int]()

    def __enter__(self) -> MemoryBudget:
        gc.collect()
        self._before, large = accounted()
        self._large = {one.address: bytes_ for one, bytes_ in large}
        self._sampled = Sampled()
        self._sampled.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        self._sampled.__exit__()
        if kind is not None or self._before is None:
            return
        gc.collect()
        after, large = accounted()
        left = _in_use(after) - _in_use(self._before)
        exceeded = self._exceeded(left, after, large) if left > self._most else None
        del large  # a traceback would keep the objects
        if exceeded:
            raise exceeded

    def _exceeded(self, left: int, after: Account, large: list[tuple[Subject, int]]) -> InspectorError:
        assert self._before is not None
        rows = [row for row in grown(self._before, after) if row.kind in IN_USE]
        return InspectorError(
            f"{size(left)} more are in use at the end of the block; its budget is {size(self._most)}.",
            slug="memory-budget",
            why=grown_most(rows) + self._holders(large) + self._asked(),
            do="let go of what holds them, or give the block a larger budget",
        )

    def _asked(self) -> str:
        """Which lines asked for it."""
        return "".join(f". {one.text.rstrip('.')}" for one in asked_for(self._sampled.growth()))

    def _holders(self, large: list[tuple[Subject, int]]) -> str:
        """The largest new objects: larger than the least of the largest before, and a tenth of the budget."""
        least = max(min(self._large.values(), default=0), self._most // 10)
        new = [row for row in large if row[0].address not in self._large and row[1] > least]
        shown = [(type_name(one), bytes_, path_of(one, {})) for one, bytes_ in new[:MOST_SHOWN]]
        held = [f"{name} of {size(bytes_)} held by {path}" for name, bytes_, path in shown if path]
        return f". The largest: {'; '.join(held)}" if held else ""


class Grew:
    """The block of `growth`; `fact` is there once it has ended."""

    fact: Growth

    def __enter__(self) -> Grew:
        self._before = accounted()[0]
        self._sampled = Sampled()
        self._sampled.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self._sampled.__exit__(*raised)
        self.fact = self._sampled.growth(self._before)

    @property
    def report(self) -> Report:
        """The same as sentences and tables."""
        return Report("growth", {"answers": Answers(tuple(asked_for(self.fact))), "growth": self.fact})

    def __str__(self) -> str:
        return str(self.report) if hasattr(self, "fact") else "the block has not ended"


def growth() -> Grew:
    """Return a block; afterwards it tells what that added to the process, and which lines asked for it.

    `.fact` is a Growth: by row of the account, and by line, estimated from sampled allocations; `.report`
    draws it. Example: `with inspector.growth() as grew: work()`, then `grew.fact.sources[0].site.line`.
    """
    return Grew()


def growth_of(pid: int, seconds: float) -> Report:
    """By which rows of the account another process grows within `seconds`; read from outside, without a stop.

    Its lines are not known: no code runs there. Raises what `memory` raises.
    """
    check_seconds(seconds)
    begun, before = time.monotonic_ns(), memory(pid)
    time.sleep(seconds)
    after = memory(pid)
    change = after.resident_bytes - before.resident_bytes
    found = Growth(change, grown(before, after), (), 0, 0, time.monotonic_ns() - begun)
    answers = Answers((watched_growth(found, pid), *after.answers))
    return Report("growth", {"answers": answers, "growth": found})


def _in_use(account: Account) -> int:
    return sum(account.row(kind).resident_bytes for kind in IN_USE)


def _by_the_user(growth: Growth) -> int:
    """Bytes that lines of the user's own asked for: this tool asks for memory too."""
    files = ((row.site.file, row.bytes) for row in growth.sources)
    return sum(bytes_ for file, bytes_ in files if isinstance(file, str) and is_users(file))


def with_growth(report: Report, before: Account, runs: int, sampled: Sampled) -> Report:
    """The report; with the memory that `runs` runs of the code left, if it is much, and who asked for it.

    It stands first, unless a fault was found.
    """
    native = tuple(native_growth(grown(before, memory()), runs))
    found = sampled.growth()
    if not native and _by_the_user(found) < LEAST_NATIVE_BYTES:
        return report
    said = (*native, *asked_for(found, runs))
    told = report.answers.rows
    rows = (*told, *said) if report.leaks.verdicts else (*said, *told)
    return Report(report.name, report.facts | {"answers": Answers(rows), "growth": found})
