"""Read std::shared_ptr of libstdc++ from memory: what an object of C++ refers to, and how many refer to it.

A shared pointer is two words: the object, and the block that counts it. That block begins with a virtual
table whose RTTI names its class (`_Sp_counted_...`), so that no field of the object needs to be known; a
vector of shared pointers is found by its three words. A weak pointer of an object to itself looks the same
and is left out. Nothing is called; what cannot be read, or is of another class, is not there.
"""

# SPDX-License-Identifier: MIT
import ctypes
import functools
import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from inspector import _native

WORD: Final = 8
MOST_WORDS: Final = 64
"""Words of an object that are searched."""
MOST_ITEMS: Final = 100_000
"""Shared pointers in one vector."""
_MOST_NAME: Final = 160
_INSIDE: Final = "St23_Sp_counted_ptr_inplaceI"
"""make_shared: the object lies in the block that counts it."""
_APART: Final = ("St15_Sp_counted_ptrI", "St19_Sp_counted_deleterI")
_DEFAULT: Final = "St14default_deleteI"
_DELETED: Final = 2
"""Word of a counting block that has the address to delete: after the table and two counts of four bytes."""
_NAMES = dict[int, str]()
"""Address of a virtual table -> the class's name in RTTI."""


class Pointer(NamedTuple):
    """A shared pointer: what it points to, and the block that counts."""

    address: int
    block: int


class Counted(NamedTuple):
    """What a counting block counts."""

    references: int
    pieces: tuple[tuple[int, int], ...]
    """(address, bytes) of the allocator's blocks that go with it: of the count, of the object."""


def words_at(address: int, count: int) -> tuple[int, ...]:
    """Words at an address; () if they cannot be read."""
    raw = _native.read(address, WORD * count) if address > MOST_WORDS and count > 0 else None
    return struct.unpack(f"={count}Q", raw) if raw else ()


def class_at(address: int) -> str:
    """The class of an object of C++ by RTTI, as the ABI writes it; "" for what has none."""
    table = (words_at(address, 1) or (0,))[0]
    if table not in _NAMES:
        _NAMES[table] = _name_of(table)
    return _NAMES[table]


def _name_of(table: int) -> str:
    info = words_at(table - WORD, 1) if table > WORD else ()
    name = words_at(info[0] + WORD, 1) if info else ()
    raw = _native.read(name[0], _MOST_NAME) if name and name[0] > MOST_WORDS else None
    return raw.partition(b"\0")[0].decode("latin-1") if raw else ""


def counted(pointer: Pointer) -> Counted | None:
    """What a shared pointer's block says; None of a class whose memory is not known."""
    kind, words = class_at(pointer.block), words_at(pointer.block, _DELETED + 1)
    references = words[1] & 0xFFFFFFFF if words else 0
    if kind.startswith(_INSIDE):
        blocks: tuple[int, ...] = (pointer.block,)
    elif kind.startswith(_APART[0]) or (kind.startswith(_APART[1]) and _DEFAULT in kind):
        blocks = (words[_DELETED], pointer.block)
    else:
        return None
    pieces = tuple((block, block_bytes(block)) for block in blocks) if references else ()
    return Counted(references, pieces) if pieces and all(size for _, size in pieces) else None


def pointers(address: int, size: int, own: int = 0) -> Iterator[Pointer]:
    """The shared pointers in a piece of memory, and in vectors that it has; not those to `own`."""
    words = words_at(address, min(size // WORD, MOST_WORDS))
    for first, second, third in zip(words, words[1:], (*words[2:], 0), strict=False):
        if is_counting(second) and second != own:
            yield Pointer(first, second)
        elif first < second <= third and (second - first) % (2 * WORD) == 0 and first % (2 * WORD) == 0:
            yield from _vector(first, (second - first) // (2 * WORD))


def is_counting(address: int) -> bool:
    """Whether a block that counts lies there."""
    return address > MOST_WORDS and address % 16 == 0 and class_at(address).startswith((_INSIDE, *_APART))


def _vector(address: int, count: int) -> Iterator[Pointer]:
    """The pointers of a vector; none, if one of its items is something else."""
    words = words_at(address, 2 * count) if count <= MOST_ITEMS else ()
    found = [Pointer(*pair) for pair in zip(words[::2], words[1::2], strict=True) if any(pair)]
    if all(is_counting(one.block) for one in found):
        yield from found


_usable = ctypes.CDLL(None).malloc_usable_size
_usable.argtypes, _usable.restype = (ctypes.c_void_p,), ctypes.c_size_t
_IN_USE, _MAPPED, _FLAGS = 1, 2, 7
"""Bits of the word before a block: the chunk before is in use; has a mapping of its own (glibc malloc.c)."""


@functools.cache
def _is_glibc() -> bool:
    found = (
        ctypes.cast(one, ctypes.c_void_p).value
        for one in (_usable, ctypes.CDLL("libc.so.6").malloc_usable_size)
    )
    return len(set(found)) == 1


def block_bytes(address: int) -> int:
    """Bytes of the allocator's block that begins at an address; 0 where glibc's heap has no block in use.

    malloc_usable_size ends the process at an address that malloc did not return, so the words that glibc
    keeps about a block are read softly. Another allocator is asked.
    """
    return _glibc_bytes(address) if _is_glibc() else int(_usable(address))


def _glibc_bytes(address: int) -> int:
    head = words_at(address - WORD, 1) if address % 16 == 0 else ()
    size = head[0] & ~_FLAGS if head else 0
    if size < 32 or size % 16:
        return 0
    if head[0] & _MAPPED:
        return size - 2 * WORD
    after = words_at(address - 2 * WORD + size + WORD, 1)
    return size - WORD if after and after[0] & _IN_USE else 0
