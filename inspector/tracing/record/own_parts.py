"""Objects that belong to one object alone: what it holds, and nobody else does."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, ModuleType
from typing import Any, Final

MOST_PARTS: Final = 10_000
"""Objects that are followed; what lies beyond counts as another's."""
_SHARED_KINDS: Final = (type, ModuleType, FunctionType, BuiltinFunctionType, CodeType, FrameType)
_OURS: Final = 2
"""References to a part while it is counted: of the table of parts, of the question itself."""


def own_parts(x: Any) -> frozenset[int]:
    """Ids of `x` and of all it holds, but for what is also held from elsewhere, and what that holds.

    References are weighed against each other as Python's collector does. A library that holds a part by a
    pointer which the collector is not shown lets it count as another's.
    """
    found = _held(x)
    inside: Counter[int] = Counter()
    for one in found.values():
        inside.update(id(held) for held in gc.get_referents(one))
    elsewhere = [key for key in found if key != id(x) and sys.getrefcount(found[key]) - _OURS > inside[key]]
    return frozenset(found) - _reached(found, elsewhere, id(x))


def _held(x: Any) -> dict[int, Any]:
    """Everything that is reached from `x`, without classes, modules and code."""
    found, waiting = {id(x): x}, [x]
    while waiting and len(found) < MOST_PARTS:
        for one in gc.get_referents(waiting.pop()):
            if id(one) not in found and not issubclass(type(one), _SHARED_KINDS):
                found[id(one)] = one
                waiting.append(one)
    return found


def _reached(found: dict[int, Any], begin: list[int], without: int) -> set[int]:
    """Ids of those among `found` that are reached from some of them, not through `without`."""
    reached, waiting = set(begin), list(begin)
    while waiting:
        for one in gc.get_referents(found[waiting.pop()]):
            if id(one) in found and id(one) not in reached and id(one) != without:
                reached.add(id(one))
                waiting.append(id(one))
    return reached
