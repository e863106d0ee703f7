"""Values whose bytes an object keeps that does not show them as its own: a weight of torch's module, a
gradient, the state of an optimizer."""

# SPDX-License-Identifier: MIT
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from operator import itemgetter
from types import FrameType, FunctionType, ModuleType
from typing import Any, Final

from inspector import _native
from inspector.adapters.base import Adapter
from inspector.adapters.registry import adapter_of
from inspector.objects.classes import type_bases
from inspector.objects.reach.places import Place, is_container, pairs
from inspector.objects.sharing.meetings import Blocks, meetings
from inspector.sessions.statements import values
from inspector.sessions.statements.elements import HOLDERS, bytes_of, elements_of

MOST: Final = 4096
"""Tensors of a module."""
MOST_REACHED: Final = 256
"""Objects that an instance of another class keeps, and how far from it they are at most."""
DEEPEST: Final = 3
_OTHERS: Final = (type, ModuleType, FunctionType)


def module_of(frame: FrameType, names: Iterable[str], blocks: Blocks) -> values.Related | None:
    """How a value relates to the first of these names whose object refers to the value's bytes; None if
    none does."""
    for name in names:
        found = values.named(frame, name)
        adapter = adapter_of(type(found[0])) if found else None
        for of, kept in _kept(name, adapter, found[0]) if adapter else _reached(name, found):
            if met := meetings((kept, blocks)).get((0, 1), []):
                mine = {id(one): one for _, one in met}
                return values.Related("view", of, bytes_of(tuple(mine.values())), "", False)
    return None


def _reached(name: str, found: values.Found) -> Iterator[tuple[str, Blocks]]:
    """What an instance of a class without an adapter keeps, by the path that leads there: `model.coef`."""
    left = deque([(name, found[0], 0)] if found and _is_instance(found[0]) else ())
    known: set[int] = set()
    while left and len(known) < MOST_REACHED:
        path, x, depth = left.popleft()
        for key, one in islice(pairs(x), MOST_REACHED):
            if id(one) in known or type(one) is str:
                continue
            known.add(id(one))
            at = (
                f"{path}[{key!r}]"
                if _native.exactly(key, int, str)
                else f"{path}{key if type(key) is Place else ''}"
            )
            if some := elements_of(one):
                yield at, some
            elif depth < DEEPEST and (_native.exactly(one, *HOLDERS) or _is_instance(one)):
                left.append((at, one, depth + 1))


def _is_instance(x: Any) -> bool:
    """Whether it is no class, function or module, and of a class whose objects tell what they keep."""
    bases = type_bases(type(x))
    is_other = _native.exactly(x, *HOLDERS) or any(base is one for base in bases for one in _OTHERS)
    return not is_other and is_container(type(x))


def _kept(name: str, adapter: Adapter, x: Any) -> Iterator[tuple[str, Blocks]]:
    """What it is called, and its blocks; gradients are read only where the pieces met nothing."""
    yield name, tuple(block for _, some in islice(adapter.pieces(x), MOST) for block in some)
    for what, rows in groupby(islice(adapter.beside(x), MOST), itemgetter(0)):
        yield f"the {what} of {name}", tuple(block for _, some in rows for block in some)
