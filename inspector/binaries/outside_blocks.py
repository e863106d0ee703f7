"""Anonymous memory of another process, divided by what its allocators write in front of their blocks.

Nothing there is stopped or run. A page that is not resident is not read, so that none becomes it. A structure
counts only if all its words agree, since it may change while it is read.
"""

# SPDX-License-Identifier: MIT
import os
import struct
from collections.abc import Iterator
from typing import Final

PAGE: Final = os.sysconf("SC_PAGE_SIZE")
POOL_BYTES: Final = 1 << 14
"""Of obmalloc.c since 3.10, which has pools of 32 sizes of blocks."""
_POOL: Final = struct.Struct("=I4xQQQIIII")
_CLASSES, _STEP = 32, 16
_CHUNK: Final = struct.Struct("=QQ")
_ALONE: Final = 2
"""Bit of a chunk's size: it is a mapping of its own (glibc's malloc.c, IS_MMAPPED)."""
_ALONE_BYTES: Final = 1 << 17
"""The smallest of these by default, M_MMAP_THRESHOLD (mallopt(3)): fewer may be anybody's two numbers."""
_HEAP: Final = struct.Struct("=QQQQ")
_HEAP_BYTES: Final = 1 << 26
"""Alignment of the heaps of glibc's other arenas, HEAP_MAX_SIZE."""
_ARENA_AT: Final = 64
"""An arena lies behind the header of its first heap, which has 32 bytes, from glibc 2.35 on 48."""
MOST_UNKNOWN: Final = 1 << 17
"""Pages of which nothing is known, 5 us each; after so many the rest stays undivided."""
MOST_BYTES: Final = 1 << 34
"""Of one mapping: only reserved, most of it. A larger one stays undivided."""
_IS_PRESENT: Final = bytes(byte >> 7 for byte in range(256))
LIVE: Final = ("heap", "small blocks of Python, live")
FREE: Final = ("free", "Python's allocator")
ALONE: Final = ("heap", "large blocks of malloc, live")
ARENA: Final = ("heap", "malloc's arena of a thread, live and free")
"""Kind of a row of the account, and the name of its part."""
Piece = tuple[tuple[str, str], int, int]
"""(Kind and name, resident bytes, how many blocks)."""


class OutsideBlocks:
    """Reads a process; `OSError` where its memory may not be read."""

    def __init__(self, pid: int) -> None:
        self._memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
        self._pages = os.open(f"/proc/{pid}/pagemap", os.O_RDONLY)
        self._left = MOST_UNKNOWN

    def __enter__(self) -> "OutsideBlocks":
        return self

    def __exit__(self, *raised: object) -> None:
        os.close(self._memory)
        os.close(self._pages)

    def of(self, start: int, stop: int) -> Iterator[Piece]:
        """The pieces of a mapping that are known."""
        if stop - start > MOST_BYTES or not (present := self._present(start, stop)):
            return
        first = present.find(1)
        while first >= 0 and self._left:
            found, size = self._found(start + first * PAGE, stop)
            self._left -= not found
            resident = _resident(present[first : first + size // PAGE])
            for piece, most, count in found:
                yield piece, min(most, resident), count
                resident -= min(most, resident)
            first = present.find(1, first + size // PAGE)

    def _found(self, at: int, stop: int) -> tuple[tuple[Piece, ...], int]:
        """The pieces of what begins at this page, and its length."""
        if heap := 0 if at % _HEAP_BYTES else self._heap(at, stop):
            return ((ARENA, heap, 1),), heap
        if pool := () if at % POOL_BYTES or stop - at < POOL_BYTES else self._pool(at):
            return pool, POOL_BYTES
        before, word, *_ = self._words(_CHUNK, at)
        size = word - _ALONE
        size += _CHUNK.size if size % PAGE == PAGE - _CHUNK.size else 0  # newer ones do not count the header
        if before == 0 and size % PAGE == 0 and _ALONE_BYTES <= size <= stop - at:
            return ((ALONE, size, 1),), size
        return (), PAGE

    def _present(self, start: int, stop: int) -> bytes:
        """One byte a page: 1 if it is resident (pagemap, bit 63)."""
        words = self._read(self._pages, start // PAGE * 8, (stop - start) // PAGE * 8)
        return words[7::8].translate(_IS_PRESENT) if len(words) * PAGE == (stop - start) * 8 else b""

    def _read(self, file: int, at: int, size: int) -> bytes:
        try:
            return os.pread(file, size, at)
        except OSError:  # it was unmapped meanwhile
            return b""

    def _words(self, form: struct.Struct, at: int) -> tuple[int, ...]:
        text = self._read(self._memory, at, form.size)
        return form.unpack(text) if len(text) == form.size else (0,) * 8

    def _heap(self, at: int, stop: int) -> int:
        """Bytes of a heap of an arena; 0 for none. It may have grown since the mappings were read."""
        arena, _, size, opened, *_ = self._words(_HEAP, at)
        is_arena = not arena % 16 and 0 < arena % _HEAP_BYTES <= _ARENA_AT
        is_heap = 0 < size <= opened <= _HEAP_BYTES and opened % PAGE == 0
        return min(opened, stop - at) if is_arena and is_heap else 0

    def _pool(self, at: int) -> tuple[Piece, ...]:
        """() where it is none."""
        count, free, _, _, _, kind, used, last = self._words(_POOL, at)
        size = (kind + 1) * _STEP
        begun = used - _POOL.size
        if kind >= _CLASSES or last != POOL_BYTES - size or begun < 0 or begun % size:
            return ()
        if count * size > begun or not (free == 0 or at < free < at + POOL_BYTES):
            return ()
        return (LIVE, count * size, count), (FREE, POOL_BYTES, 0)


def _resident(present: bytes) -> int:
    return present.count(1) * PAGE
