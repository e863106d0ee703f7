"""`Vector`: the lazy vector as NumPy and Python see it, and the base class of providers."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np

from inspector import _native
from inspector.facts.lazy import Lazy
from inspector.lazy import describe, dispatch, pickling, refusals, ufuncs


class Vector(_native.LazyVector, np.lib.mixins.NDArrayOperatorsMixin):
    """A one-dimensional array whose elements are computed when read.

    Subclass it: call `super().__init__(length, dtype)`, and define `elt(self, i)`, or
    `get_region(self, i, n, out)`, which writes elements i .. i+n-1 into the ndarray `out` and returns n, or
    both. `inspector.check_lazy(vector)` checks that they agree. Elements never change while it lives.
    """

    __slots__ = ()

    def __init__(self, length: int, dtype: Any = "f8", over: Any = None, name: str | None = None) -> None:
        """`length` elements of `dtype`; `over` is the input (data1) to show and to keep alive."""
        made = np.dtype(dtype)
        if made.kind not in "biuf" or not made.isnative:
            raise refusals.kind(made)
        shown = type(self).__name__ if name is None else name
        super().__init__(length, made.char, made.itemsize, over, shown)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the elements."""
        return dispatch.dtype_of(self)

    @property
    def shape(self) -> tuple[int]:
        """(length,)"""
        return (self.length,)

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.length

    @property
    def ndim(self) -> int:
        """1"""
        return 1

    def _chosen(self, key: Any) -> Any:
        """`self[key]` for anything but an int or a slice: chosen elements, or what NumPy makes of it."""
        if type(key) is list or type(key) is np.ndarray:
            chosen = np.asarray(key)
            if chosen.dtype == np.bool_ and chosen.shape == self.shape:
                return self.extract_subset(np.flatnonzero(chosen))
            if (chosen.dtype.kind in "iu" or not chosen.size) and chosen.ndim == 1:
                return self.extract_subset(chosen)
        return dispatch.array_of(self, "Vector.__getitem__")[key]

    def extract_subset(self, indices: Any) -> np.ndarray[Any, Any]:
        """Elements at `indices` (integers, negative ones from the end), computed one by one."""
        chosen = np.ascontiguousarray(indices, np.int64)
        out = np.empty(chosen.shape, self.dtype)
        self.take(chosen, out)
        return out

    def __iter__(self) -> Iterator[Any]:
        for block in dispatch.blocks(self):
            yield from block.tolist()

    def __reversed__(self) -> Iterator[Any]:
        return iter(self[::-1])

    def __contains__(self, value: object) -> bool:
        return any(bool((block == value).any()) for block in dispatch.blocks(self))

    def count(self, value: object) -> int:
        """How many elements equal `value`."""
        return sum(int(np.count_nonzero(block == value)) for block in dispatch.blocks(self))

    def index(self, value: object) -> int:
        """Position of the first element that equals `value`; ValueError if none does."""
        start = 0
        for block in dispatch.blocks(self):
            found = np.flatnonzero(block == value)
            if found.size:
                return start + int(found[0])
            start += len(block)
        raise ValueError(f"{value!r:.40} is not in this lazy vector")

    def tolist(self) -> list[Any]:
        """All elements as Python numbers, without materializing."""
        return list(self)

    def materialize(self, start: int = 0, stop: int | None = None) -> Self:
        """Compute [start, stop) into data2, in whole blocks of 128 KB; without arguments all of it."""
        self.materialize_blocks(start, self.length if stop is None else stop, None)
        return self

    def duplicate(self) -> Vector:
        """Another vector of the same recipe; a materialized data2 is shared until one is written."""
        other: Vector = pickling.again(self)
        if not self.written:
            other.share(self)
        return other

    __copy__ = duplicate

    def astype(self, dtype: Any) -> Vector:
        """The elements as another type, cast as ndarray.astype does, when read; itself if it has it.

        Raises InspectorError (lazy-kind) for a type that lazy vectors do not support.
        """
        made: Vector = dispatch.METHODS["astype"](self, dtype)
        return made

    def inspect(self) -> Lazy:
        """The present state, as R's `.Internal(inspect(x))` prints it: data1, data2, blocks, events."""
        subject = _native.Subject(self)
        del self  # a reference, or from 3.14 on none: then it borrows the caller's variable
        return describe.lazy(subject)

    def __repr__(self) -> str:
        return describe.short(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """By NumPy 2's rules: copy=False on a vector that is not materialized raises ValueError."""
        if copy is False and self.dataptr_or_null() is None:
            raise ValueError("a lazy vector cannot give an array without computing it (copy=False)")
        array: np.ndarray[Any, Any] = dispatch.array_of(self)
        if dtype is None or np.dtype(dtype) == array.dtype:
            return array.copy() if copy else array
        if copy is False:
            raise ValueError(f"{array.dtype} to {np.dtype(dtype)} needs a copy (copy=False)")
        return array.astype(dtype)

    def __array_function__(
        self, func: Any, types: Sequence[type], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Compute by block what docs/reference/lazy.md lists as lazy; others get materialized arrays."""
        if not all(issubclass(kind, _native.LazyVector | np.ndarray) for kind in types):
            return NotImplemented
        return dispatch.array_function(func, args, kwargs)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Stay lazy for f(x), and for f(x, y) with a scalar or a vector of the same length."""
        return ufuncs.apply(ufunc, method, inputs, kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        """The recipe and its input, never the computed elements (unless a consumer could write them)."""
        return pickling.recipe_of(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__reduce__()


Sequence.register(Vector)
_native.lazy_class(Vector)
pickling.bases.append(Vector)
