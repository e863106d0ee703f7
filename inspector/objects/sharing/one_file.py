"""Two mappings of one file: the same bytes at two addresses, found by device, inode and offset."""

# SPDX-License-Identifier: MIT
from bisect import bisect_right
from dataclasses import replace
from pathlib import Path

from inspector import _native
from inspector.adapters.base import Elements
from inspector.facts.record import dataclass
from inspector.facts.sharing import Sharing
from inspector.facts.unknown import Unknown
from inspector.objects.sharing.meetings import Blocks, judged, meetings

MAPS = Path("/proc/self/maps")
FEW = 8
MOST_BLOCKS = 64
"""Blocks of an object whose mapping is looked up."""
PRIVATE = "{} maps the file privately (copy-on-write): a page that was written is its own"


@dataclass(frozen=True, slots=True)
class Mapped:
    """A part of this process's addresses that shows a file."""

    start: int
    stop: int
    shared: bool
    """MAP_SHARED: a write reaches the file."""
    file: tuple[str, int]
    """Device and inode."""
    shift_bytes: int
    """File offset less address."""
    path: str


def mapped_files() -> tuple[Mapped, ...]:
    """All mappings of files and of shared memory, by address (proc_pid_maps(5)); () without /proc."""
    try:
        lines = MAPS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ()
    return tuple(found for line in lines if (found := _mapped(line)) is not None)


def _mapped(line: str) -> Mapped | None:
    place, permissions, offset, device, inode, *path = line.split(maxsplit=5)
    if inode == "0":
        return None
    start, stop = (int(word, 16) for word in place.split("-"))
    return Mapped(
        start, stop, permissions.endswith("s"), (device, int(inode)), int(offset, 16) - start, "".join(path)
    )


def by_file(left: Blocks, right: Blocks) -> Sharing | None:
    """What two objects share through a file that both map at different addresses; None: no such file.

    Unknown where one of them maps it privately: the kernel does not say which pages are still the file's.
    """
    sides = [[block for block in side[:MOST_BLOCKS] if _may_be_of_file(block)] for side in (left, right)]
    table = mapped_files() if all(sides) else ()
    starts = [one.start for one in table]
    here, there = ([(block, _of(block, table, starts)) for block in side] for side in sides)
    for a, first in here:
        for b, second in there:
            if first is None or second is None or first.file != second.file or first.start == second.start:
                continue
            if (found := _shared(a, first, b, second)) is not None:
                return found
    return None


def of_file(blocks: Blocks) -> str:
    """The path of the file, or of the shared memory, whose pages all blocks are, as `mmap` gives them.

    "" of other memory, of private mappings, of many blocks, and if the kernel cannot be asked of an address.
    """
    some = [block.range for block in blocks if block.range.bytes] if len(blocks) <= FEW else []
    asked = {_native.mapping_at(place) for one in some for place in (one.start, one.stop - 1)}
    found = {one[4] if one and one[2].endswith("s") else "" for one in asked}
    path = found.pop() if len(found) == 1 else ""
    return path if path.startswith("/") and not path.startswith("/dev/zero") else ""


def _may_be_of_file(block: Elements) -> bool:
    """Whether the kernel, asked for one address, names a file; True where it cannot be asked."""
    found = _native.mapping_at(block.range.start) if block.range.bytes else ("",) * 6
    return found is None or found[4].startswith("/")


def _of(block: Elements, table: tuple[Mapped, ...], starts: list[int]) -> Mapped | None:
    """The mapping of a whole block; a block over several mappings of one file counts if no page is moved."""
    first, last = (_at(address, table, starts) for address in (block.range.start, block.range.stop - 1))
    if first is None or last is None or not block.range.bytes:
        return None
    same = (first.file, first.shift_bytes, first.shared) == (last.file, last.shift_bytes, last.shared)
    return first if same else None


def _at(address: int, table: tuple[Mapped, ...], starts: list[int]) -> Mapped | None:
    number = bisect_right(starts, address) - 1
    return table[number] if number >= 0 and address < table[number].stop else None


def _shared(a: Elements, here: Mapped, b: Elements, there: Mapped) -> Sharing | None:
    shift = there.shift_bytes - here.shift_bytes  # from an address of `b` to that of the same byte in `a`
    moved = replace(b, address=b.address + shift)
    found = judged((a,), (moved,), meetings(((a,), (moved,))).get((0, 1), []))
    if found.overlap is False:
        return None
    if not (here.shared and there.shared):
        which = "the first" if not here.shared else "the second"
        private = Unknown(PRIVATE.format("each" if here.shared == there.shared else which))
        return replace(found, overlap=private, overlap_bytes=private, file=here.path, shift_bytes=shift)
    return replace(found, file=here.path, shift_bytes=shift)
