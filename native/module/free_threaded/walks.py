"""What objects reach, on a free-threaded CPython: as native/heap/reached.c, by the collector's referents.

The collector stops the other threads while it is asked, once for all objects that are a step further away. In
between they run, so that a sum may be of no single moment. Fewer objects are followed than in the extension.
"""

# SPDX-License-Identifier: MIT
import gc
import sys
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

from inspector._native import Subject, own_bytes

_MOST = 100_000
"""Objects that are followed for all roots together: about 0.2 s."""

_FLAGS, _HAVE_GC = type.__dict__["__flags__"].__get__, 1 << 14

Row = tuple[int, int, int, list[Any], list[Any]]


def reached(
    roots: tuple[Subject, ...],
    stops: tuple[Any, ...],
    leaves: tuple[type, ...],
    most: int,
    leaf: int,
    once: bool,
) -> tuple[list[Row], list[type], bool]:
    """(a row a root, the types met, whether all was followed); see inspector/_native.pyi."""
    walk = _Walk(stops, leaves, min(most, _MOST), leaf)
    rows = [walk.row(root.get(), walk.every if once else {}) for root in roots]
    return rows, list(walk.types.values()), walk.left >= 0


class _Walk:
    """Objects met are kept until the end, so that no address is that of two of them."""

    def __init__(self, stops: tuple[Any, ...], leaves: tuple[type, ...], left: int, left_leaf: int) -> None:
        self.stops = {id(one) for one in stops}
        self.leaves = {id(kind) for kind in leaves}
        self.left, self.left_leaf = left, left_leaf
        self.every: dict[int, Any] = {}
        self.types: dict[int, type] = {}
        self.bytes = self.fresh = self.objects = 0

    def row(self, root: Any, seen: dict[int, Any]) -> Row:
        """What one root holds, what leaves among that hold alone."""
        self.bytes = self.fresh = self.objects = 0
        held: list[Any] = []
        behind: list[Any] = []
        self._drain(self._met([root], seen, held, root), seen, held)
        for one in held:
            self._note(one)
        self._drain(self._met(_referents(held), seen, behind), seen, behind)
        while met := self._met(_referents(behind), seen, behind):
            self._drain(met, seen, behind)
        return self.bytes, self.fresh, self.objects, held, behind

    def _drain(self, level: list[Any], seen: dict[int, Any], found: list[Any]) -> None:
        while level and self.left >= 0:
            level = self._met(_referents(level), seen, found)

    def _met(self, objects: list[Any], seen: dict[int, Any], found: list[Any], root: Any = None) -> list[Any]:
        """Those not met before, counted; leaves go to `found`, all others are returned."""
        further = []
        for one in objects:
            if id(one) in seen or id(one) in self.stops or sys._is_immortal(one) or _is_shared(one, root):
                continue
            seen[id(one)] = one
            self.left -= 1
            if self.left < 0:
                break
            self.objects += 1
            if id(type(one)) in self.leaves and self.left_leaf > 0:
                self.left_leaf -= 1
                found.append(one)
            else:
                self._count(one, seen)
                further.append(one)
        return further

    def _count(self, one: Any, seen: dict[int, Any]) -> None:
        size = own_bytes(one)
        self.bytes += size
        if seen is self.every or id(one) not in self.every:
            self.fresh += size
        self._note(one)

    def _note(self, one: Any) -> None:
        self.every[id(one)] = one
        self.types[id(type(one))] = type(one)


def _is_shared(one: Any, root: Any) -> bool:
    """What belongs to everybody: modules, code, builtins, classes but a root that is one of __main__."""
    kind = type(one)
    if issubclass(kind, type):
        return one is not root or type.__dict__["__module__"].__get__(one) != "__main__"
    return issubclass(kind, ModuleType) or kind is CodeType or kind is BuiltinFunctionType


def _referents(objects: list[Any]) -> list[Any]:
    """What objects refer to: of functions not their globals; of arrays their base and their objects."""
    functions = [one for one in objects if type(one) is FunctionType]
    others = [one for one in objects if type(one) is not FunctionType] if functions else objects
    asked = [one for one in others if _FLAGS(type(one)) & _HAVE_GC]
    found = gc.get_referents(*asked) if asked else []  # each call stops the other threads
    for one in functions:
        parts = (one.__closure__, one.__defaults__, one.__kwdefaults__)
        found += [part for part in parts if part is not None]
    return [*found, *_in_arrays(others)]


def _in_arrays(objects: list[Any]) -> Iterator[Any]:
    """NumPy's arrays do not tell the collector what they hold."""
    numpy = sys.modules.get("numpy")
    array = vars(numpy).get("ndarray") if type(numpy) is ModuleType else None
    for one in objects if type(array) is type else ():
        if issubclass(type(one), array):
            yield from _of_array(one, array, vars(numpy)["dtype"].kind.__get__)


def _of_array(one: Any, array: Any, kind_of: Callable[[Any], str]) -> Iterator[Any]:
    base = array.base.__get__(one)
    if base is not None:
        yield base
    if kind_of(array.dtype.__get__(one)) == "O":
        yield from array.tolist(array.ravel(one))
