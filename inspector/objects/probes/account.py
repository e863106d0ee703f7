"""The account of a process: smaps says how much is resident, the allocators' own structures whose it is."""

# SPDX-License-Identifier: MIT
import os
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from inspector import _native
from inspector.binaries.outside_blocks import OutsideBlocks
from inspector.binaries.smaps import Area, parsed, read
from inspector.errors import InspectorError, TargetGone
from inspector.facts.account import KINDS, Account, AccountPart, AccountRow, LargeObject
from inspector.facts.heap import by_name
from inspector.objects.ownership.rows import type_name
from inspector.objects.ownership.shown_paths import path_of
from inspector.objects.reach import told_blocks

MOST_PARTS: Final = 200
"""Parts of a row; the rest is one more."""
CLEARLY: Final = 10
"""Words that lead to an owner, for each that leads elsewhere by chance: libbz2's table holds such numbers."""
PYTHONS: Final = ("libpython", "python")
"""How the file that holds Python begins."""
_PYTHON, _GLIBC = "Python's allocator", "glibc's malloc"
_LIBRARY: Final = getattr(_native, "LIBRARY", _native.__file__)
_OTHERS: Final = "smaller blocks that are no objects, and rounding"
_OF_R: Final = "vectors and cells, live or not yet collected"
_UNKNOWN: Final = "no Python object is known for them"

Gap = tuple[int, int, int, str, int]
"""As `_native.account` returns it."""
Map = tuple[int, int, tuple[int, ...]]
"""Start, stop and pieces of a mapping that was walked."""
Parts = dict[str, dict[str, list[int]]]
"""Kind -> name of a part -> [bytes, count]."""


class _Book:
    """Rows in the making."""

    def __init__(self) -> None:
        self.parts: Parts = {kind: {} for kind in KINDS}
        self.proportional = dict.fromkeys(KINDS, 0.0)

    def add(self, kind: str, name: str, size: int, share: float = 1.0, count: int = 0) -> None:
        """Add `size` bytes, of which `share` counts for this process."""
        if size > 0:
            part = self.parts[kind].setdefault(name, [0, 0])
            part[0] += size
            part[1] += count
            self.proportional[kind] += size * share

    def rows(self) -> tuple[AccountRow, ...]:
        """The rows that hold anything, the largest first, the unexplained one last."""
        made = [self._row(kind) for kind in KINDS if self.parts[kind]]
        return tuple(sorted(made, key=lambda row: (row.kind == "unexplained", -row.resident_bytes)))

    def _row(self, kind: str) -> AccountRow:
        parts = [AccountPart(name, size, count) for name, (size, count) in self.parts[kind].items()]
        parts.sort(key=lambda part: -part.resident_bytes)
        if rest := parts[MOST_PARTS:]:
            size = sum(part.resident_bytes for part in rest)
            parts[MOST_PARTS:] = [AccountPart(f"{len(rest):,} more", size, sum(part.count for part in rest))]
        total = sum(part.resident_bytes for part in parts)
        return AccountRow(kind, total, round(self.proportional[kind]), tuple(parts))


def account(
    pid: int = 0,
    names: Mapping[int, str] | None = None,
    largest: int = 0,
    known: Mapping[int, str] | None = None,
) -> Account:
    """Account for this process, or from outside for another one.

    `largest`: for how many of the largest objects (8 at most) a path is looked for, a walk of the heap each.
    `known`: id of an object -> the user's name for it.

    Raises InspectorError: ptrace-forbidden; TargetGone: no-process.
    """
    found, objects = accounted(pid)
    return replace(found, largest=_paths(objects, largest, names or {}, known or {}))


def largest_objects(most: int, known: Mapping[int, str]) -> tuple[LargeObject, ...]:
    """The largest objects of this process (8 at most), each with the path that holds it."""
    return _paths(accounted()[1], most, {}, known)


def accounted(pid: int = 0) -> tuple[Account, list[tuple[_native.Subject, int]]]:
    """The account, and of this process its largest objects, each with the bytes of its largest block."""
    begin, book = time.monotonic_ns(), _Book()
    walked: Any = None
    mapped = list[tuple[_native.Subject, int]]()
    is_self = pid in (0, os.getpid())
    if is_self:
        blocks = told_blocks.told()
        walked, text = _native.account((_native.Subject,), blocks)
        found = parsed(text)
        mapped = told_blocks.mapped(found, blocks)
        del blocks
    else:
        found = _of_another(pid)
    malloc = _other_malloc() if is_self else ""
    _fill(book, found, walked, os.getpid() if is_self else pid, malloc)
    made = Account(
        os.getpid() if is_self else pid,
        is_self,
        sum(area.resident for area in found),
        sum(area.proportional for area in found),
        sum(area.swapped for area in found),
        book.rows(),
        time.monotonic_ns() - begin,
        pooled_bytes=sum(area.pooled for area in found),
        malloc=malloc,
    )
    if not walked:
        return made, []
    large = [row for row in walked[5] if row[0].address != id(text)]
    return made, sorted([*large, *mapped], key=lambda row: -row[1])


def _paths(
    rows: list[tuple[_native.Subject, int]], most: int, names: Mapping[int, str], known: Mapping[int, str]
) -> tuple[LargeObject, ...]:
    """Of the `most` largest that are not this tool's own, each found by a walk of the heap."""
    held = ((one, size, known.get(one.address) or path_of(one, names)) for one, size in rows)
    kept = (LargeObject(type_name(one), size, path) for one, size, path in held if not _is_ours(path))
    return tuple(islice(kept, most))


def _is_ours(path: str) -> bool:
    """Whether a module of this tool holds it: its tables of symbols may be the largest objects."""
    return path.startswith(("inspector.", "sys.modules['inspector."))


def _other_malloc() -> str:
    """The library that is preloaded for its malloc; "" for glibc's or musl's own."""
    image = _native.image(_native.malloc_at())
    name = _short(image[0]) if image is not None else ""
    return "" if name.startswith(("libc.", "libc-", "ld-musl")) else name


def _of_another(pid: int) -> list[Area]:
    try:
        found = parsed(read(pid))
    except (FileNotFoundError, ProcessLookupError):
        raise TargetGone(f"there is no process {pid}.", slug="no-process") from None
    except OSError as error:
        raise InspectorError(
            f"the mappings of process {pid} cannot be read.",
            slug="ptrace-forbidden",
            why=str(error.strerror),
            do="run inspector as the process's user",
        ) from None
    if not found:
        raise TargetGone(f"process {pid} has no memory any more.", slug="no-process")
    return found


def _fill(book: _Book, found: list[Area], walked: Any, pid: int, malloc: str) -> None:
    images = {area.path for area in found if "x" in area.permissions and area.path.startswith("/")}
    rest = [area for area in found if not _simple(book, area, images)]
    if walked is None:
        _outside(book, rest, pid)
        return
    _anonymous(book, rest, walked, malloc)


def _simple(book: _Book, area: Area, images: set[str]) -> bool:
    """Enter a mapping that is of one kind as a whole; False: its memory must be divided."""
    share = _share(area)
    if area.path == _LIBRARY:
        book.add("tool", "its code and data", area.resident, share, 1)
    elif told_blocks.is_shared(area):
        book.add("shared", area.path or "unnamed", area.resident, share, 1)
    elif area.path in images:
        book.add("libraries", _short(area.path), area.resident, share, 1)
    elif area.path.startswith("/"):
        _file(book, area, share)
    elif area.path.startswith("[stack"):
        book.add("stacks", "main thread", area.resident, share, 1)
    elif area.path.startswith("[v"):
        book.add("libraries", "the kernel's", area.resident, share, 1)
    elif "x" in area.permissions:
        book.add("code", "anonymous executable memory", area.resident, share, 1)
    else:
        return False
    return True


def _file(book: _Book, area: Area, share: float) -> None:
    name = _short(area.path)
    book.add("files", f"{name}, written to", min(area.dirty, area.resident), share, 1)
    book.add("files", name, area.resident - area.dirty, share, 1)


def _short(path: str) -> str:
    return path.rpartition("/")[2]


def _outside(book: _Book, rest: list[Area], pid: int) -> None:
    """Another process: what /proc tells, and the headers of blocks where its memory may be read."""
    stacks = _stack_pointers(pid)
    for area in [row for row in rest if any(row.start <= pointer < row.stop for pointer in stacks)]:
        rest.remove(area)
        book.add("stacks", "other threads", area.resident, _share(area), 1)
    rest = _joined(rest)
    with suppress(OSError), OutsideBlocks(pid) as blocks:
        rest = [_divided(book, area, blocks) for area in rest]
    for area in rest:
        if area.path == "[heap]":
            book.add("heap", "live and free blocks, not divided", area.resident, _share(area), 1)
        else:
            book.add("unexplained", f"{area.start:x}-{area.stop:x}", area.resident, _share(area))


def _share(area: Area) -> float:
    return area.proportional / area.resident if area.resident else 1.0


def _joined(areas: list[Area]) -> list[Area]:
    """Anonymous mappings that touch as one: madvise splits a mapping within a block."""
    made: list[Area] = []
    for area in areas:
        last = made[-1] if made else None
        if last and last[1:4] == (area.start, area.permissions, area.path) and not area.path:
            sums = (a + b for a, b in zip(last[4:], area[4:], strict=True))
            made[-1] = Area(last.start, area.stop, area.permissions, "", *sums)
        else:
            made.append(area)
    return made


def _divided(book: _Book, area: Area, blocks: OutsideBlocks) -> Area:
    """Enter the blocks that are known; the mapping with what is left of its resident pages."""
    share, left = _share(area), area.resident
    for (kind, name), size, count in blocks.of(area.start, area.stop) if left and not area.path else ():
        size = min(size, left)  # it grew since smaps was read
        book.add(kind, name, size, share, count)
        left -= size
    return area._replace(resident=left, proportional=round(left * share))


def _stack_pointers(pid: int) -> list[int]:
    found = list[int]()
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError, ValueError, IndexError):  # a thread that runs tells nothing
                found.append(int((task / "syscall").read_text().split()[-2], 16))
    return found


def _anonymous(book: _Book, rest: list[Area], walked: Any, malloc: str) -> None:
    """Divide anonymous memory by what the walk in C found; `malloc`: whose blocks it cannot walk."""
    maps, gaps, small, large, buffers, _, pools, _ = walked
    total, starts = _Pieces(), [start for start, *_ in maps]
    inside: list[list[Area]] = [[] for _ in maps]
    unclaimed = [0] * len(maps)
    for gap in gaps:
        if (at := _at(starts, maps, gap[0])) >= 0:
            unclaimed[at] += gap[2]
    for area in rest:
        if (at := _at(starts, maps, area.start)) >= 0:
            inside[at].append(area)
        elif area.resident:
            book.add("unexplained", f"{area.start:x}-{area.stop:x}", area.resident, _share(area))
    for (_, _, pieces), some, size in zip(maps, inside, unclaimed, strict=True):
        total.add(pieces, size, sum(area.resident for area in some))
        total.proportional += sum(area.proportional for area in some)
    if not pools:  # PYTHONMALLOC=malloc: small objects are blocks of malloc
        total.move_objects(sum(row[2] for row in small))
    total.enter(book, by_name([*small, *large]), buffers, _owned(gaps, maps, malloc))


def _owned(gaps: list[Gap], maps: list[Map], malloc: str = "") -> list[Gap]:
    """The gaps; those of a mapping that one library alone uses are that library's.

    Alone: no block of another allocator lies there, and few words of other libraries' data point there.
    Of the rest `malloc` gave blocks to those whose words point there; Python maps nothing but its arenas.
    """
    pools = [row for row in maps if not any(row[2][:1] + row[2][2:8] + row[2][9:])]
    starts = [start for start, *_ in pools]
    words: list[Counter[str]] = [Counter() for _ in pools]
    places = [_at(starts, pools, gap[0]) for gap in gaps]
    for gap, at in zip(gaps, places, strict=True):
        if gap[3] and at >= 0:
            words[at][gap[3]] += gap[4]
    alone = [best if (best := _most(some)) and _clearly(some, best) else "" for some in words]
    if malloc:
        alone = ["" if _short(one).startswith(PYTHONS) else one for one in alone]
    names = [alone[at] if at >= 0 else "" for at in places]
    return [
        (*gap[:3], name or (gap[3] and malloc) or gap[3], gap[4])
        for gap, name in zip(gaps, names, strict=True)
    ]


def _at(starts: list[int], maps: list[Map], address: int) -> int:
    """The number of the mapping that an address lies in, -1: none; they are in order."""
    at = bisect_right(starts, address) - 1
    return at if at >= 0 and address < maps[at][1] else -1


def _most(words: Counter[str]) -> str:
    return max(words, key=words.__getitem__, default="")


def _clearly(words: Counter[str], owner: str) -> bool:
    return words[owner] > 0 and words[owner] >= CLEARLY * (words.total() - words[owner])


class _Pieces:
    """The sums of all walked mappings: by kind, and of memory that nothing explains."""

    def __init__(self) -> None:
        self.sums = [0] * 10
        self.gaps = 0
        self.resident = self.proportional = 0

    def add(self, pieces: Iterable[int], unclaimed: int, resident: int) -> None:
        """Add a mapping; `unclaimed`: bytes of its gaps.

        Pieces that came after smaps was read are taken off again, free memory first.
        """
        amounts = list(pieces)
        amounts[8] = 0  # the walk's own memory was mapped after smaps was read
        fast = min(amounts[5], amounts[2])
        amounts[2], amounts[4], amounts[5] = amounts[2] - fast, amounts[4] + fast, 0
        over = max(0, sum(amounts) + unclaimed - resident)
        for kind in (3, 4, 2, 9, 0, 1, 6, 7):
            less = min(over, amounts[kind])
            amounts[kind] -= less
            over -= less
        self.sums = [a + b for a, b in zip(self.sums, amounts, strict=True)]
        self.gaps += resident - sum(amounts)
        self.resident += resident

    def move_objects(self, size: int) -> None:
        """Blocks of malloc are objects, as many as their own bytes say; another malloc's lie in gaps."""
        moved = min(self.sums[2], size)
        unwalked = min(self.gaps, size - moved)
        self.sums[0] += moved + unwalked
        self.sums[2] -= moved
        self.gaps -= unwalked

    def enter(self, book: _Book, rows: Any, buffers: Any, gaps: Any) -> None:
        """Write the sums into the book, with their parts."""
        share = self.proportional / self.resident if self.resident else 1.0
        objects, held, blocks, python_free, malloc_free, _, stacks, statics, _, of_r = self.sums
        _named(book, "objects", objects, share, rows, _OTHERS)
        _named(book, "buffers", held, share, by_name(buffers), "ends of their blocks")
        book.add("blocks", _UNKNOWN, blocks, share)
        book.add("r", _OF_R, of_r, share)
        book.add("free", _PYTHON, python_free, share)
        book.add("free", _GLIBC, malloc_free, share)
        book.add("stacks", "other threads", stacks, share)
        book.add("libraries", "data that is no file's", statics, share)
        self._gaps(book, gaps, share)

    def _gaps(self, book: _Book, gaps: Any, share: float) -> None:
        left = self.gaps
        for start, stop, resident, owner, _ in sorted(gaps, key=lambda row: -row[2]):
            size = min(resident, left)
            left -= size
            if owner:
                book.add("mapped", _short(owner), size, share, 1)
            else:
                book.add("unexplained", f"{start:x}-{stop:x}", size, share)
        book.add("unexplained", "small pieces", left, share)


def _named(book: _Book, kind: str, total: int, share: float, rows: Any, rest: str) -> None:
    """Enter rows of (name, count, bytes) that add up to `total` at most; the rest is a part of its own."""
    left = total
    for name, count, size in rows:
        entered = min(size, left)
        book.add(kind, name, entered, share, count)
        left -= entered
    book.add(kind, rest, left, share)
