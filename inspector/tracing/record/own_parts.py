"""Objects that belong to one object alone: it holds them and nothing else does."""

# SPDX-License-Identifier: MIT
import sys
from collections import Counter
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, ModuleType
from typing import Any, Final

from inspector.objects.referents import referents

MOST_PARTS: Final = 10_000
"""Most objects that are followed; others count as shared."""
_SHARED_KINDS: Final = (type, ModuleType, FunctionType, BuiltinFunctionType, CodeType, FrameType)
_OURS: Final = 2
"""Our references to a part while it is counted: the table of parts and the argument."""


def own_parts(x: Any) -> frozenset[int]:
    """Ids of `x` and of all it holds, except objects that are also held elsewhere, and what these hold.

    Counts references as Python's cyclic gc does. A part that a library holds by a pointer invisible to the gc
    counts as shared.
    """
    found = _held(x)
    inside: Counter[int] = Counter()
    for one in found.values():
        inside.update(id(held) for held in referents([one]))
    elsewhere = [key for key in found if key != id(x) and sys.getrefcount(found[key]) - _OURS > inside[key]]
    return frozenset(found) - _reached(found, elsewhere, id(x))


def _held(x: Any) -> dict[int, Any]:
    """Everything reachable from `x`, except classes, modules and code."""
    found, waiting = {id(x): x}, [x]
    while waiting and len(found) < MOST_PARTS:
        for one in referents([waiting.pop()]):
            if id(one) not in found and not issubclass(type(one), _SHARED_KINDS):
                found[id(one)] = one
                waiting.append(one)
    return found


def _reached(found: dict[int, Any], begin: list[int], without: int) -> set[int]:
    """Ids of the objects in `found` that are reachable from `begin`, not through `without`."""
    reached, waiting = set(begin), list(begin)
    while waiting:
        for one in referents([found[waiting.pop()]]):
            if id(one) in found and id(one) not in reached and id(one) != without:
                reached.add(id(one))
                waiting.append(id(one))
    return reached
