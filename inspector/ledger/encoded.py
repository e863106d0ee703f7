"""Owners that keep an object by two words of their own: an offset of 32 bits and its base, a pointer combined
with a secret; or by the lower half of its address, or a pointer that begins at no multiple of eight.

What an extension can combine lies in its static data and in the memory that this leads to, so only that is
read. Such a pair may be a chance as well: it is a doubt, and no owner.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection
from typing import Final, NamedTuple

from inspector import _native
from inspector.ledger.owners import OWN_CODE

MOST_BYTES: Final = 1 << 20
"""Of one extension, read at most: more offsets would meet a base by chance."""
_EACH: Final = 1 << 18
"""Of the memory that one word leads to."""
_DEPTH: Final = 3
"""Words from the static data to the offsets: a struct, its table."""
_WORD: Final = 8
_PAGE: Final = 1 << 12
_BITS: Final = 48
"""Of an address; a secret has others too."""
_HALF: Final = (1 << 32) - 1
_SHIFTS: Final = (0, 3, 4)
"""Offsets count bytes, or steps of an object's alignment."""
_FARTHEST: Final = 1 << 32 + max(_SHIFTS)
_ELF_BYTES: Final = 64
_HEADERS_AT: Final = 56
_HEADER_BYTES: Final = 56
"""Of a program header (elf(5))."""
_LOADED: Final = 1
_WRITABLE: Final = 2


def encoded(addresses: Collection[int], libraries: Collection[str]) -> Counter[int]:
    """Address -> how many words of these extensions, alone or in pairs, may stand for it."""
    found: Counter[int] = Counter()
    for path in libraries:
        own = _own_memory(path)
        words = {word for part in own.values() for word in memoryview(part).cast("Q")}
        halves = {half for part in own.values() for half in memoryview(part).cast("I")} - {0}
        bases = [word for word in words if word & _PAGE - 1 == 0 or word in own]
        secrets = {word for word in words if word >> _BITS}
        for one in addresses:
            fits = _offsets(one, bases, halves) + sum(secret ^ one in secrets for secret in secrets)
            found[one] += fits + sum(part.count(one.to_bytes(_WORD, "little")) for part in own.values())
    return found


def _offsets(address: int, bases: Collection[int], halves: Collection[int]) -> int:
    """How many bases, pages or blocks and no objects, there are with an offset that leads to the address."""
    ways = (address - base for base in (*bases, address & ~_HALF))
    near = [way for way in ways if 0 < abs(way) < _FARTHEST]
    return sum(
        not way & (1 << shift) - 1 and way >> shift & _HALF in halves for way in near for shift in _SHIFTS
    )


def _own_memory(path: str) -> dict[int, bytes]:
    """The extension's static data and what its words lead to, by address, as far as `MOST_BYTES`."""
    own: dict[int, bytes] = {}
    ranges, left = _static(path), MOST_BYTES
    for _ in range(_DEPTH):
        fresh: set[int] = set()
        for start, stop in ranges:
            own[start] = _native.read(start, min(stop - start, left, _EACH) & -_WORD) or b""
            left -= len(own[start])
            fresh.update(memoryview(own[start]).cast("Q"))
        ranges = [block for block in _blocks(fresh) if block[0] not in own]
    return own


def _static(path: str) -> list[tuple[int, int]]:
    """The writable data of a loaded file, with what is zeroed when it is loaded."""
    start = next((row[0] for row in _native.maps() if row[5] == path), 0)
    found = _native.image(start)
    if found is None:
        return []
    _, bias, _, head = found
    count = int.from_bytes(head[_HEADERS_AT : _HEADERS_AT + 2], "little")
    stop = min(len(head), _ELF_BYTES + count * _HEADER_BYTES)
    rows = (_header(head[at : at + _HEADER_BYTES]) for at in range(_ELF_BYTES, stop, _HEADER_BYTES))
    own = [(bias + row.address, row.bytes) for row in rows if row.kind == _LOADED and row.flags & _WRITABLE]
    return [(at & -_WORD, at + size) for at, size in own]


class _Header(NamedTuple):
    """Of a program header what is asked."""

    kind: int
    flags: int
    address: int
    bytes: int
    """In memory, with what is zeroed when the file is loaded."""


def _header(raw: bytes) -> _Header:
    """Without `struct`: its import would be watched as one of the user's."""
    words = [int.from_bytes(raw[at : at + 8], "little") for at in range(0, len(raw), 8)]
    return _Header(words[0] & _HALF, words[0] >> 32, words[2], words[5])


def _blocks(words: Collection[int]) -> list[tuple[int, int]]:
    """The blocks that C code uses, and may write, and that the words lead into."""
    writable = [row[:2] for row in _native.maps() if row[2].startswith("rw")]
    starts = [start for start, _ in writable]
    pointers = [word for word in words if starts[0] <= word < writable[bisect_right(starts, word) - 1][1]]
    pointers = [word for word in pointers if not _is_link_map(word)]
    return sorted({block for block in _native.blocks_in_use(pointers, OWN_CODE) if block and block[0]})


def _is_link_map(address: int) -> bool:
    """Whether the loader's record of a file (link.h) is there, to which each table of jumps leads: what the
    records name would be bases of offsets.
    """
    bias = int.from_bytes(_native.read(address, _WORD) or b"", "little")
    image = _native.image(bias) if bias else None
    return image is not None and image[1] == bias
