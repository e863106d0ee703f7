"""What an object keeps in all, and what most of that is which it does not show."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from inspector._native import Subject
from inspector.adapters.base import Elements
from inspector.adapters.registry import adapter_of
from inspector.facts.materialization import OBJECTS, KeptPart
from inspector.objects.classes import full_name
from inspector.objects.reach.kept import Union
from inspector.objects.reach.reached import blocks_of, distinct, is_bytes, kept_by_cpp, piece_of, walked

_Labelled = tuple[str, tuple[Elements, ...]]


def whole(subject: Subject) -> tuple[int, bool, KeptPart]:
    """(bytes of all that it reaches and what stays behind that, whether that is all, most of the rest)."""
    ((own, _, objects, held, behind),), _, is_all = walked((subject,))
    x = subject.get()
    shown, rest = tuple(blocks_of((x,))), list(_rest(x, held, behind))
    pieces = [piece_of(block) for block in (*shown, *(block for _, blocks in rest for block in blocks))]
    return own + distinct(pieces), is_all, _most(shown, rest, KeptPart(OBJECTS, own, max(objects - 1, 0)))


def _rest(x: Any, held: Sequence[Any], behind: Sequence[Any]) -> Iterator[_Labelled]:
    """The blocks that it does not show, by what has them: a word of its adapter, a type, a thing of C++."""
    adapter = adapter_of(type(x))
    if adapter is not None:
        yield from adapter.beside(x)
    for one in (*held, *behind):
        if one is not x:
            yield OBJECTS if is_bytes(type(one)) else full_name(type(one)), tuple(blocks_of((one,)))
    for block in kept_by_cpp((*held, *behind)):
        yield block.exporter, (block,)


def _most(shown: Iterable[Elements], rest: Iterable[_Labelled], objects: KeptPart) -> KeptPart:
    """The part with most bytes that none before it has."""
    union, sums = Union([piece_of(block) for block in shown]), {OBJECTS: (objects.bytes, objects.count)}
    for what, blocks in rest:
        grown = union.add([(block.range.start, block.range.stop) for block in blocks])
        before, count = sums.get(what, (0, 0))
        sums[what] = before + grown, count + (grown > 0 and what != OBJECTS)
    return max((KeptPart(what, *both) for what, both in sums.items()), key=lambda part: part.bytes)
