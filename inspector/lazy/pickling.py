"""Rebuild a lazy vector from its recipe and its input, never from computed elements."""

# SPDX-License-Identifier: MIT
from typing import Any

import numpy as np

from inspector import _native
from inspector._native import LazyVector
from inspector.lazy import refusals

bases: list[Any] = []
"""vector.py puts `Vector` here: this file lies below it."""


def recipe_of(vector: LazyVector) -> tuple[Any, ...]:
    """The result of `__reduce__`; for a vector that a consumer could write, its elements.

    Raises InspectorError (lazy-not-pickled) for a provider in C.
    """
    kind = np.dtype(vector.format)
    if vector.written:
        return make, ("source", np.frombuffer(memoryview(vector), kind).copy())
    if vector.origin in ("source", "abs"):
        return make, (vector.origin, vector.data1)
    if vector.origin == "foreign":
        raise refusals.not_pickled(vector.recipe)
    if vector.origin == "python":
        state = object.__getstate__(vector)
        return rebuild, (type(vector), vector.length, kind.str, vector.data1, vector.recipe), state
    start, step = vector.steps or (0, 0)
    if vector.origin == "arange":
        second = LazyVector.elt(vector, 1) if vector.length > 1 else start
        return make, ("arange", kind.char, kind.itemsize, start, second, step, vector.length)
    stop = start + step * vector.length
    return make, ("slice", vector.data1, int(start), int(stop) if stop >= 0 else None, int(step))


def make(origin: str, *parts: Any) -> Any:
    """A vector of one of our own recipes."""
    if origin == "arange":
        return _native.lazy_arange(*parts)
    if origin == "slice":
        return parts[0][slice(*parts[1:])]
    return _native.lazy_over(parts[0], origin == "abs")


def rebuild(kind: Any, length: int, dtype: str, over: Any, name: str) -> Any:
    """A vector of a subclass, without its own __init__: its attributes are set afterwards."""
    made = kind.__new__(kind)
    bases[0].__init__(made, length, dtype, over, name)
    return made


def again(vector: LazyVector) -> Any:
    """Another vector of the same recipe and input."""
    if vector.origin == "foreign":
        return vector[:]
    function, arguments, *state = recipe_of(vector)
    made = function(*arguments)
    plain, slots = state[0] if state and type(state[0]) is tuple else (state[0] if state else None, None)
    for name, value in {**(plain or {}), **(slots or {})}.items():
        object.__setattr__(made, name, value)
    return made
