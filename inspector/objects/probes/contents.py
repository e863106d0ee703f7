"""What a container holds, by a bounded walk over the objects that it reaches. Runs no user code."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import collections
import functools
import operator
import types
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from inspector import _native
from inspector.adapters.registry import adapter_of
from inspector.objects.classes import type_bases
from inspector.objects.layers.plain import INSTANCES, plain
from inspector.objects.layouts.overlap import merged
from inspector.objects.referents import referents

if TYPE_CHECKING:  # imported for a container
    from inspector.facts.contents import Contents

Spans = tuple[tuple[int, int], ...]
MOST_OBJECTS: Final = 1_000
"""Objects that are looked at."""
MOST_ITEMS: Final = 200_000
"""A longer container is not looked into: asking it for its items takes longer than a card may."""
_CONTAINERS: Final = (
    list,
    tuple,
    dict,
    set,
    frozenset,
    collections.deque,
    functools.partial,
    types.FunctionType,
)
_PLAIN: Final = (int, float, complex, str, bytes, bytearray, bool, dict, list, tuple)
_OTHERS: Final = (type, types.ModuleType, types.CodeType, types.FrameType, types.BuiltinFunctionType)
"""What objects refer to without owning it."""
_SIZED: Final = (list, tuple, dict, set, frozenset, collections.deque)
_LENGTH_OF = operator.attrgetter("__len__")
_NEVER_FREED: Final = 500_000_000
"""3.11 gives static objects 999,999,999 references (_PyObject_IMMORTAL_REFCNT, internal/pycore_object.h)."""


def contents(subject: _native.Subject) -> Contents | None:
    """The column `contents`; None if the object is no container, or its bytes are known to an adapter."""
    x = subject.get()
    kind = type(x)
    if not _is_container(kind) or adapter_of(kind) is not None:
        return None
    from inspector.facts.contents import Contents

    if _is_long(x):
        return Contents(0, 0, 0, 0, False)
    found, complete = _reached(x)
    spans = {id(one): _spans(one) for one in found}
    rows = _native.names({str(at): one for at, one in enumerate(found)})
    owned = [(id(one), row[4]) for one, row in zip(found, rows, strict=True) if _is_freed(row[3])]
    arrays = [key for key, _ in owned if spans[key]]
    payload = sum(stop - start for start, stop in merged([span for key in arrays for span in spans[key]]))
    total = payload + sum(_without(size, spans[key]) for key, size in owned)
    return Contents(len(owned), total, len(arrays), payload, complete)


def _is_freed(references: int | None) -> bool:
    return references is not None and references < _NEVER_FREED


def _without(size: int, spans: Spans) -> int:
    """Own bytes of an object, less the payload where they include it."""
    payload = sum(stop - start for start, stop in spans)
    return size - payload if size >= payload else size


def _is_container(kind: type) -> bool:
    """Whether it is a container of Python's, a function, or an instance of a class statement."""
    if any(base is one for base in type_bases(kind) for one in _CONTAINERS):
        return True
    return kind is not object and plain(kind) is INSTANCES


def _reached(x: Any) -> tuple[list[Any], bool]:
    """(objects that `x` reaches, breadth first, without `x`; whether these are all)."""
    seen, found, waiting = {id(x)}, list[Any](), collections.deque([x])
    while waiting:
        for one in _held(waiting.popleft()):
            if id(one) in seen:
                continue
            if len(found) >= MOST_OBJECTS:
                return found, False
            seen.add(id(one))
            found.append(one)
            if not _spans(one):
                waiting.append(one)
    return found, True


def _held(x: Any) -> Iterator[Any]:
    """What an object refers to and may own, by `tp_traverse`: a list may have slots without an object.

    Of a function its closure and its defaults; nothing of a container with more than MOST_ITEMS.
    """
    kind = type(x)
    if any(kind is one for one in (int, float, str, bytes, bool, complex)) or _is_long(x):
        return
    held = (
        [*(x.__closure__ or ()), *(x.__defaults__ or ())] if kind is types.FunctionType else referents((x,))
    )
    yield from (one for one in islice(held, MOST_OBJECTS + 1) if not _is_others(type(one)))


def _is_long(x: Any) -> bool:
    """Whether it is a container of Python's with more than MOST_ITEMS."""
    base = next((base for base in type_bases(type(x)) for one in _SIZED if base is one), None)
    return base is not None and _LENGTH_OF(base)(x) > MOST_ITEMS


def _is_others(kind: type) -> bool:
    return any(base is other for base in type_bases(kind) for other in _OTHERS)


def _spans(x: Any) -> Spans:
    """(start, stop) of the blocks of an array or a table; () for any other object."""
    kind = type(x)
    if any(kind is one for one in _PLAIN):
        return ()
    adapter = adapter_of(kind)
    blocks = adapter.elements(x) if adapter is not None else ()
    return tuple((block.range.start, block.range.stop) for block in blocks)
