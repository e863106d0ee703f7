"""What a container holds, by a bounded walk over the objects that it reaches. Runs no user code."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import collections
import functools
import operator
import sys
import types
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from inspector import _native
from inspector.adapters.base import Adapter, Elements, type_name
from inspector.adapters.registry import adapter_of
from inspector.facts.amounts import counted
from inspector.facts.record import dataclass
from inspector.facts.unknown import Address
from inspector.objects.classes import full_name, type_bases
from inspector.objects.layers.plain import INSTANCES, plain
from inspector.objects.layouts.overlap import merged
from inspector.objects.ownership.rows import key_text
from inspector.objects.referents import referents

if TYPE_CHECKING:  # imported for a container
    from inspector.facts.contents import Contents, Item

Spans = tuple[tuple[int, int], ...]
MOST_OBJECTS: Final = 1_000
"""Objects that are looked at."""
MOST_ITEMS: Final = 200_000
"""A longer container is not looked into: asking it for its items takes longer than a card may."""
MOST_ASKED: Final = 16
"""Arrays that are asked whether they keep more than their elements."""
MOST_NAMED: Final = 8
"""Items that the fact describes one by one."""
_SIZED: Final = (list, tuple, dict, set, frozenset, collections.deque)
_CONTAINERS: Final = (*_SIZED, functools.partial, types.FunctionType)
_ATOMS: Final = (int, float, complex, str, bytes, bytearray, bool, type(None))
_PLAIN: Final = (*_ATOMS, dict, list, tuple)
_OTHERS: Final = (type, types.ModuleType, types.CodeType, types.FrameType, types.BuiltinFunctionType)
"""What objects refer to without owning it."""
_LENGTH_OF = operator.attrgetter("__len__")
_NEVER_FREED: Final = 500_000_000
"""3.11 gives static objects 999,999,999 references (_PyObject_IMMORTAL_REFCNT, internal/pycore_object.h)."""


@dataclass(frozen=True, slots=True)
class _Found:
    """An object that was reached, and through which object of the container."""

    object: Any
    through: int
    """id of the item."""
    spans: Spans
    """(start, stop) of the blocks of an array or a table."""


class _Adapters:
    """The adapters of the types that one walk meets, each looked up once, by identity."""

    def __init__(self) -> None:
        self._known: dict[int, Adapter | None] = {}

    def of(self, x: Any) -> Adapter | None:
        """The adapter of the object's type; None if there is none."""
        kind = type(x)
        if id(kind) not in self._known:
            self._known[id(kind)] = None if any(kind is one for one in _PLAIN) else adapter_of(kind)
        return self._known[id(kind)]

    def blocks(self, x: Any) -> tuple[Elements, ...]:
        """The blocks of an array or a table; () for any other object."""
        adapter = self.of(x)
        return adapter.elements(x) if adapter is not None else ()


def contents(subject: _native.Subject) -> Contents | None:
    """The column `contents`; None if the object is no container, or its bytes are known to an adapter."""
    x = subject.get()
    kind = type(x)
    if not _is_container(kind) or adapter_of(kind) is not None:
        return None
    from inspector.facts.contents import Contents

    if _is_long(x):
        return Contents(0, 0, 0, 0, False)
    adapters = _Adapters()
    found, complete = _reached(x, adapters)
    sizes = _sizes(found)
    arrays = [one for one in found if one.spans and id(one.object) in sizes]
    payload = _total(span for one in arrays for span in one.spans)
    total = payload + sum(
        _without(sizes[id(one.object)], one.spans) for one in found if id(one.object) in sizes
    )
    opaque = [
        *(one for one in _one_a_type(found) if _is_opaque(one)),
        *(one for one in arrays[:MOST_ASKED] if _is_in_graph(one, adapters)),
    ]
    unseen = tuple(dict.fromkeys(type_name(type(one.object)) for one in opaque))
    return Contents(
        len(sizes),
        total,
        len(arrays),
        payload,
        complete,
        tuple(_items(x, found, sizes, adapters)),
        unseen[:MOST_NAMED],
    )


def _sizes(found: list[_Found]) -> dict[int, int]:
    """id of an object -> own bytes, without those that are never freed."""
    rows = _native.names({str(at): one.object for at, one in enumerate(found)})
    freed = ((one, row) for one, row in zip(found, rows, strict=True) if row[3] is not None)
    return {id(one.object): row[4] for one, row in freed if row[3] is not None and row[3] < _NEVER_FREED}


def _total(spans: Iterator[tuple[int, int]]) -> int:
    return sum(stop - start for start, stop in merged(list(spans)))


def _without(size: int, spans: Spans) -> int:
    """Own bytes of an object, less the payload where they include it."""
    payload = sum(stop - start for start, stop in spans)
    return size - payload if size >= payload else size


def _items(x: Any, found: list[_Found], sizes: dict[int, int], adapters: _Adapters) -> Iterator[Item]:
    """The items with most bytes; those of an exact dict, list or tuple, by key or index."""
    from inspector.facts.contents import Item

    weights: dict[int, int] = {}
    for one in found:
        own = _without(sizes.get(id(one.object), 0), one.spans) + (
            _total(iter(one.spans)) if one.spans else 0
        )
        weights[one.through] = weights.get(one.through, 0) + own
    largest = sorted(weights, key=lambda key: -weights[key])[:MOST_NAMED]
    keys: dict[int, list[Any]] = {}
    for key, value in _pairs(x):
        if id(value) in largest:
            keys.setdefault(id(value), []).append((key, value))
    for address in largest:
        for key, value in keys.get(address, ())[:1]:
            text = f"[{key_text(_native.Subject(key))}]"
            yield Item(text, _what(value, adapters), weights[address], Address(address), len(keys[address]))


def _pairs(x: Any) -> Iterator[tuple[Any, Any]]:
    """(key or index, item) of an exact dict, list or tuple without empty slots."""
    if type(x) is dict:
        yield from list(islice(x.items(), MOST_OBJECTS))
    elif type(x) is list or type(x) is tuple:
        held = referents((x,))
        yield from enumerate(held[:MOST_OBJECTS]) if len(held) == len(x) else ()


def _what(x: Any, adapters: _Adapters) -> str:
    """The type of an item with its shape or its length."""
    kind = type(x)
    name = type_name(kind)
    if any(kind is one for one in _SIZED):
        return f"{name} ({counted(len(x), 'item')})"
    blocks = adapters.blocks(x)
    return f"{name} {blocks[0].format} {blocks[0].shape}" if len(blocks) == 1 else name


def _one_a_type(found: list[_Found]) -> Iterator[_Found]:
    yield from {id(type(one.object)): one for one in found}.values()


def _is_opaque(one: _Found) -> bool:
    """Whether it may keep bytes that nothing tells: its C type is of a library without an adapter."""
    kind = type(one.object)
    if (
        one.spans
        or any(kind is known for known in _PLAIN)
        or adapter_of(kind) is not None
        or plain(kind) is not None
    ):
        return False
    top = full_name(kind).partition(".")[0] if "." in full_name(kind) else "builtins"
    return top not in sys.stdlib_module_names and top != "builtins"


def _is_in_graph(one: _Found, adapters: _Adapters) -> bool:
    """Whether a tensor may keep a graph of what it was computed from, with the tensors saved in it."""
    adapter = adapters.of(one.object)
    told = dict(adapter.names(one.object)) if adapter is not None else {}
    return told.get("autograd", "no") != "no"


def _is_container(kind: type) -> bool:
    """Whether it is a container of Python's, a function, or an instance of a class statement."""
    if any(base is one for base in type_bases(kind) for one in _CONTAINERS):
        return True
    return kind is not object and plain(kind) is INSTANCES


def _reached(x: Any, adapters: _Adapters) -> tuple[list[_Found], bool]:
    """(what `x` reaches, breadth first, without `x`; whether that is all)."""
    seen, found, complete = {id(x)}, list[_Found](), True
    waiting: collections.deque[tuple[Any, int]] = collections.deque([(x, 0)])
    while waiting:
        holder, through = waiting.popleft()
        if _is_long(holder):
            complete = False
            continue
        for one in _held(holder):
            if id(one) in seen:
                continue
            if len(found) >= MOST_OBJECTS:
                return found, False
            seen.add(id(one))
            blocks = adapters.blocks(one)
            spans = tuple((block.range.start, block.range.stop) for block in blocks)
            complete = complete and all(block.numeric for block in blocks)
            found.append(_Found(one, through or id(one), spans))
            if not spans and not any(type(one) is kind for kind in _ATOMS):
                waiting.append((one, through or id(one)))
    return found, complete


def _held(x: Any) -> Iterator[Any]:
    """What an object refers to and may own, by `tp_traverse`: a list may have slots without an object.

    Of a function its closure and its defaults.
    """
    kind = type(x)
    is_function = kind is types.FunctionType
    held = [*(x.__closure__ or ()), *(x.__defaults__ or ())] if is_function else referents((x,))
    yield from (one for one in held[: MOST_OBJECTS + 1] if not _is_others(type(one)))


def _is_long(x: Any) -> bool:
    """Whether it is a container of Python's with more than MOST_ITEMS."""
    base = next((base for base in type_bases(type(x)) for one in _SIZED if base is one), None)
    return base is not None and _LENGTH_OF(base)(x) > MOST_ITEMS


def _is_others(kind: type) -> bool:
    if any(kind is atom for atom in _ATOMS):
        return False
    return any(base is other for base in type_bases(kind) for other in _OTHERS)
