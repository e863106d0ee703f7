"""Ufuncs of lazy vectors: the result is a lazy vector, if its type is supported."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable
from typing import Any

import numpy as np

from inspector._native import LAZY_DEPTH_MAX, LazyVector, exactly, lazy_over
from inspector.errors import InspectorError
from inspector.lazy import dispatch

makers: list[Callable[[Any, tuple[Any, ...], np.dtype[Any]], Any]] = []
"""recipes.py puts the maker of mapped vectors here: this file lies below it."""

SCALARS = (bool, int, float)


def result_dtype(ufunc: np.ufunc, inputs: tuple[Any, ...]) -> np.dtype[Any]:
    """Type of f's results: by `ufunc.resolve_dtypes`, or by calling f with no elements.

    Before NumPy 2 the type depended on a Python scalar's value; there only a call of the ufunc shows it.
    Raises TypeError if the ufunc has no loop for such inputs.
    """
    found: np.dtype[Any]
    if any(exactly(x, *SCALARS) for x in inputs):
        found = ufunc(*(x if exactly(x, *SCALARS) else np.empty(0, _dtype(x)) for x in inputs)).dtype
    else:
        found = ufunc.resolve_dtypes((*(_dtype(x) for x in inputs), None))[-1]
    return found


def _dtype(value: Any) -> np.dtype[Any]:
    return dispatch.dtype_of(value) if isinstance(value, LazyVector) else np.dtype(value.dtype)


def stays_lazy(value: Any, length: int) -> bool:
    """A scalar, a lazy vector of this length, or a plain array of it."""
    if isinstance(value, LazyVector):
        return value.length == length
    if exactly(value, *SCALARS) or isinstance(value, np.generic):
        return True
    return type(value) is np.ndarray and value.shape == (length,)


def weight(inputs: tuple[Any, ...]) -> int:
    """How often an element passes through a vector below, counted to LAZY_DEPTH_MAX.

    Vectors may share inputs: after `v = v + v`, thirty times, each element would be computed 2**30 times.
    """
    total, waiting = 0, [x for x in inputs if isinstance(x, LazyVector)]
    while waiting and total < LAZY_DEPTH_MAX:
        total += 1
        vector = waiting.pop()
        below = () if vector.state == "materialized" else vector.data1
        waiting += [x for x in (below if type(below) is tuple else (below,)) if isinstance(x, LazyVector)]
    return total


def lazily(ufunc: np.ufunc, inputs: tuple[Any, ...]) -> Any:
    """The lazy result, or UNANSWERED."""
    length = next(x.length for x in inputs if isinstance(x, LazyVector))
    if ufunc.nout != 1 or ufunc.signature is not None or not all(stays_lazy(x, length) for x in inputs):
        return dispatch.UNANSWERED
    if weight(inputs) >= LAZY_DEPTH_MAX:
        for vector in (x for x in inputs if isinstance(x, LazyVector)):
            vector.dataptr(by=dispatch.name_of(ufunc))
    if ufunc is np.absolute:
        return lazy_over(inputs[0], True)
    dtype = result_dtype(ufunc, inputs)
    if dtype.kind not in "biuf" or dtype.itemsize > 8 or dtype == np.float16:
        return dispatch.UNANSWERED
    try:
        return makers[0](ufunc, inputs, dtype)
    except InspectorError:  # an input of a kind we have no arithmetic for
        return dispatch.UNANSWERED


def apply(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`__array_ufunc__` of every lazy vector."""
    if any(isinstance(x, LazyVector) for x in kwargs.get("out", ())):
        raise TypeError("a lazy vector cannot be written to: give out= an array")
    by = dispatch.name_of(ufunc) if method == "__call__" else f"{dispatch.name_of(ufunc)}.{method}"
    if method == "__call__" and not kwargs:
        found = lazily(ufunc, inputs)
        if found is not dispatch.UNANSWERED:
            return found
    arrays = dispatch.with_arrays(inputs, by)
    return getattr(ufunc, method)(*arrays, **dispatch.with_arrays(kwargs, by))
