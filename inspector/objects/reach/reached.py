"""What objects reach: bytes of Python's objects, blocks of arrays and tables. Runs no user code."""

# SPDX-License-Identifier: MIT
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

from inspector import _native
from inspector.adapters.base import Adapter, Elements, type_attribute
from inspector.adapters.beyond import Beyond
from inspector.adapters.registry import adapter_of
from inspector.facts.record import dataclass
from inspector.objects.classes import HAVE_GC, type_flags
from inspector.objects.layouts.overlap import Nested, TooLong, common_bytes, merged, nested

MOST_OBJECTS: Final = 3_000_000
"""Objects looked at for all roots together: about 0.1 s."""
MOST_ARRAYS: Final = 4_000
"""Arrays and tables whose blocks are asked for; of more, own bytes are counted, which miss what C owns."""


Walked = tuple[int, int, int, list[Any], list[Any]]
"""A row of `_native.reached`."""


@dataclass(frozen=True, slots=True)
class Reached:
    """What one object reaches."""

    own_bytes: int
    """Own bytes of the objects, with the root, without arrays and tables."""
    fresh_bytes: int
    """Those of them that no root before it reaches."""
    blocks: tuple[Elements, ...]
    """Of the arrays and tables among the objects."""
    arrays: int
    behind: tuple[Elements, ...]
    """Blocks of what only those keep: the base of a view, the index of a table, the graph of a result."""

    @property
    def bytes(self) -> int:
        """Of all of it, each once; of an array or a table the bytes that it shows."""
        return self.own_bytes + distinct(list(map(piece_of, self.blocks)))


def reached(roots: Sequence[_native.Subject], stops: tuple[Any, ...] = ()) -> tuple[list[Reached], bool]:
    """(what each root reaches, whether that is all). Walks end at modules, code, and the objects `stops`."""
    rows, _, complete = walked(roots, stops)
    return [_row(*row) for row in rows], complete


def walked(
    roots: Sequence[_native.Subject], stops: tuple[Any, ...] = (), once: bool = False
) -> tuple[list[Walked], list[type], bool]:
    """(a row a root, the types met, whether that is all), as `_native.reached`; leaves have blocks.

    It is not all where more arrays were met than are asked for their blocks.
    """
    guessed = _leaves({id(kind): kind for kind in (type(root.get()) for root in roots)}.values())
    found = _native.reached(tuple(roots), stops, guessed, MOST_OBJECTS, MOST_ARRAYS, once)
    leaves = _leaves(found[1])
    if not all(any(kind is one for one in guessed) for kind in leaves):
        found = _native.reached(tuple(roots), stops, leaves, MOST_OBJECTS, MOST_ARRAYS, once)
    asked = sum(len(held) + len(behind) for *_, held, behind in found[0])
    return found[0], found[1], found[2] and (asked < MOST_ARRAYS or all(map(is_bytes, leaves)))


def _leaves(kinds: Iterable[type]) -> tuple[type, ...]:
    return tuple(kind for kind in kinds if has_blocks(kind) or owns_untraversed(kind))


def is_bytes(kind: type) -> bool:
    """Whether the bytes of such objects are their own, so that their size has all of them."""
    return kind is bytes or kind is bytearray


def _row(own: int, fresh: int, _: int, held: list[Any], behind: list[Any]) -> Reached:
    return Reached(own, fresh, (*blocks_of(held),), len(held), (*kept_behind(held, behind),))


def kept_behind(held: Sequence[Any], behind: Sequence[Any]) -> Iterator[Elements]:
    """The blocks of what only arrays keep, and those that C++ keeps for both."""
    yield from blocks_of(behind)
    yield from kept_by_cpp([*held, *behind])


def kept_by_cpp(held: Collection[Any]) -> Iterator[Elements]:
    """The blocks that C and C++ keep for arrays: their storages, and those of the graph behind them."""
    found = Beyond()
    for one in held:
        if (adapter := adapter_of(type(one))) is not None:
            adapter.beyond(one, found)
    for row in found.rows.values():
        start, stop = row.span
        if stop > start:
            yield Elements("struct fields", start, (stop - start,), (1,), 1, "uint8", "B", False, row.kind)
    if found.rows:
        untraversed = {id(one) for one in held if owns_untraversed(type(one))}
        yield from blocks_of(found.named(by_cpp=True, besides=untraversed))


def blocks_of(arrays: Iterable[Any]) -> Iterator[Elements]:
    """The blocks of arrays and tables."""
    for one in arrays:
        adapter = adapter_of(type(one))
        yield from adapter.elements(one) if adapter is not None else ()


def has_blocks(kind: type) -> bool:
    """Whether an adapter may know blocks of bytes of such objects."""
    adapter = adapter_of(kind)
    return adapter is not None and type_attribute(type(adapter), "elements") is not Adapter.elements


def owns_untraversed(kind: type) -> bool:
    """Whether C structs of such objects own what only an adapter knows: no tp_traverse leads there."""
    adapter = adapter_of(kind)
    if adapter is None or type_flags(kind) & HAVE_GC:
        return False
    return type_attribute(type(adapter), "beyond") is not Adapter.beyond


def distinct(pieces: Collection[Nested]) -> int:
    """Bytes, each once; twice where two strided views overlap outside all contiguous ones."""
    pieces = set(pieces)
    solid = merged([(piece.start, piece.stop) for piece in pieces if not piece.axes])
    strided = (piece.bytes - _covered(piece, solid) for piece in pieces if piece.axes)
    return sum(stop - start for start, stop in solid) + sum(strided)


def _covered(piece: Nested, solid: list[tuple[int, int]]) -> int:
    meeting = [(start, stop) for start, stop in solid if start < piece.stop and stop > piece.start]
    try:
        return sum(common_bytes(piece, Nested(start, (), stop - start)) for start, stop in meeting)
    except TooLong:
        return 0


def piece_of(block: Elements) -> Nested:
    """The bytes of a block; without a nested form its whole extent."""
    found = nested(block.address, block.shape, block.strides_bytes, block.itemsize_bytes)
    return found or Nested(block.range.start, (), block.range.bytes)
