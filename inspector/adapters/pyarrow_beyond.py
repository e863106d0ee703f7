"""What pyarrow's objects own in C++: arrays, their data, buffers, each counted by a shared pointer."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable, Iterable
from typing import Any, Final

from inspector.adapters.beyond import ODD, Beyond, Counted
from inspector.objects.classes import basic_size
from inspector.objects.layouts.shared_pointers import Pointer, class_at, counted, pointers, words_at

HEAD: Final = object.__basicsize__
"""Bytes of PyObject_HEAD: what Cython keeps of C++ follows."""
NONE: Final = (0, 0)
MOST_ROWS: Final = 200_000
_POOLED: Final = "N5arrow10PoolBufferE"
_DATA, _CAPACITY = 2, 4
"""Words of arrow::Buffer, after the table and two truths: data, size, capacity (arrow/buffer.h)."""


def add(x: Any, found: Beyond, owner_of: Callable[[int], int]) -> None:
    """What one object of Cython owns. `owner_of`: the Python object that a buffer in C++ refers to, or 0."""
    add_from(x, id(x) + HEAD, basic_size(type(x)) - HEAD, found, owner_of)


def add_from(x: Any, address: int, size: int, found: Beyond, owner_of: Callable[[int], int]) -> None:
    """What an object owns by shared pointers that lie in `size` bytes there."""
    if id(x) in found.rows:
        return
    first = tuple(pointers(address, size))
    found.add(Counted(id(x), 0, 0, "", NONE, _blocks(first)))
    waiting = list(first)
    while waiting and not found.why:
        waiting += _follow(waiting.pop(), found, owner_of)
        if len(found.rows) > MOST_ROWS:
            found.why = f"more than {MOST_ROWS:,} objects of Arrow"


def _blocks(some: Iterable[Pointer]) -> tuple[int, ...]:
    return tuple(one.block | ODD for one in some)


def _follow(pointer: Pointer, found: Beyond, owner_of: Callable[[int], int]) -> list[Pointer]:
    """Add a row for what a shared pointer leads to; return the pointers that it has."""
    known = counted(pointer) if pointer.block | ODD not in found.rows else None
    if known is None:
        return []
    inside = [one for piece in known.pieces for one in pointers(*piece, own=pointer.block)]
    size, span = _payload(pointer.address)
    owner = owner_of(pointer.address)
    owns = _blocks(inside) + ((owner,) if owner else ())
    own = size + sum(of for _, of in known.pieces)
    found.add(Counted(pointer.block | ODD, known.references, own, "Arrow object in C++", span, owns))
    return inside


def _payload(address: int) -> tuple[int, tuple[int, int]]:
    """(bytes, (start, stop)) that a buffer of a pool frees."""
    if class_at(address) != _POOLED:
        return 0, NONE
    words = words_at(address, _CAPACITY + 1)
    return words[_CAPACITY], (words[_DATA], words[_DATA] + words[_CAPACITY])
