"""Lazy vectors of functions from block to block: `np.isin`, `astype`."""

# SPDX-License-Identifier: MIT
from typing import Any

import numpy as np

from inspector._native import LazyVector
from inspector.lazy import dispatch
from inspector.lazy.recipes import Mapped, source


class IsIn:
    """np.isin of a block, with a copy of the values: the caller's may change."""

    __name__ = "isin"

    def __init__(self, values: Any, invert: bool) -> None:
        self.values, self.invert = np.array(values), invert

    def __call__(self, block: Any) -> Any:
        """Booleans."""
        return np.isin(block, self.values, invert=self.invert)


class Cast:
    """Cast a block as ndarray.astype does."""

    __name__ = "astype"

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype

    def __call__(self, block: Any) -> Any:
        """The block in the type."""
        return block.astype(self.dtype)


class ByBlock(Mapped):
    """`function(block)` returns as many elements as the block has."""

    __slots__ = ()

    def get_region(self, start: int, count: int, out: Any) -> int:
        """The function of the same region of the input."""
        (over,) = self._inputs
        count = min(count, self.length - start)
        room = np.empty(count, over.dtype)
        LazyVector.get_region(over, start, count, room)
        out[:count] = self._function(room)
        return count


def isin(element: Any, test_elements: Any, assume_unique: bool = False, *, invert: bool = False) -> Any:
    """As np.isin; lazy in `element`."""
    if isinstance(test_elements, LazyVector):
        return dispatch.UNANSWERED
    return ByBlock(IsIn(test_elements, bool(invert)), (element,), np.dtype(bool))


def astype(vector: Any, dtype: Any) -> Any:
    """As ndarray.astype, lazily: the vector itself where it has the type already."""
    kind = np.dtype(dtype)
    return vector if kind == vector.dtype else ByBlock(Cast(kind), (source(vector),), kind)


dispatch.LAZY[np.isin] = (isin, 3, frozenset({"assume_unique", "invert"}))
dispatch.METHODS["astype"] = astype
