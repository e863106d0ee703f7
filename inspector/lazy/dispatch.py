"""What each NumPy function does with a lazy vector: answered block by block, or from materialized data.

The tables are the specification: a function in LAZY never materializes (for the arguments its rule takes);
every other function gets arrays, also where vectors stand inside lists, tuples and dicts.
"""

# SPDX-License-Identifier: MIT
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from inspector._native import LAZY_BLOCK_BYTES, LazyVector

Array = Any
Rule = Callable[..., Any]

UNANSWERED: Any = object()
"""What a rule returns for arguments it does not take: then the data is materialized."""


def dtype_of(vector: LazyVector) -> np.dtype[Any]:
    """NumPy's dtype of the elements."""
    return np.dtype(vector.format)


def blocks(vector: LazyVector) -> Iterator[Array]:
    """The elements as ndarrays of at most 128 KB, computed one after the other into the same memory."""
    most = LAZY_BLOCK_BYTES // vector.itemsize
    room = np.empty(min(most, vector.length), dtype_of(vector))
    for start in range(0, vector.length, most):
        count = LazyVector.get_region(vector, start, min(most, vector.length - start), room)
        yield room[:count]


def array_of(vector: LazyVector, by: str | None = None) -> Array:
    """All elements as a read-only ndarray over data2; `by` is who asked, for the event."""
    vector.dataptr(by=by)
    return np.frombuffer(memoryview(vector), dtype_of(vector))


def with_arrays(value: Any, by: str) -> Any:
    """`value` with an array for each lazy vector in it, also inside lists, tuples and dicts."""
    if isinstance(value, LazyVector):
        return array_of(value, by)
    if type(value) is list:
        return [with_arrays(item, by) for item in value]
    if type(value) is tuple:
        return tuple(with_arrays(item, by) for item in value)
    if type(value) is dict:
        return {key: with_arrays(item, by) for key, item in value.items()}
    return value


def name_of(function: Any) -> str:
    """How users write it: np.sort, np.linalg.norm."""
    module = str(getattr(function, "__module__", None) or "numpy")
    return f"{module.replace('numpy', 'np', 1)}.{getattr(function, '__name__', '?')}"


def _wrapped(vector: LazyVector, value: Any) -> Any:
    return dtype_of(vector).type(value)


def sum_(vector: LazyVector) -> Any:
    """As np.sum: integers and bool in 64 bits, that wrap; floats in the vector's type."""
    kind = dtype_of(vector).kind
    wide: Any = dtype_of(vector).type if kind == "f" else np.uint64 if kind == "u" else np.int64
    return wide(vector.sum())


def mean(vector: LazyVector) -> Any:
    """As np.mean, the warning for length 0 too; at most a few units in the last place from it."""
    if not vector.length:
        warnings.warn("Mean of empty slice.", RuntimeWarning, stacklevel=4)
    return _real(vector)(vector.mean())


def _real(vector: LazyVector) -> Any:
    return np.float32 if dtype_of(vector) == np.float32 else np.float64


def var(vector: LazyVector, *, ddof: Any = 0) -> Any:
    """As np.var: two passes, the second over squared distances from the mean."""
    if not vector.length or ddof >= vector.length:
        return UNANSWERED
    center = vector.mean()
    total = sum(float(np.square(block - center, dtype=np.float64).sum()) for block in blocks(vector))
    return _real(vector)(total / (vector.length - ddof))


def std(vector: LazyVector, *, ddof: Any = 0) -> Any:
    """As np.std."""
    found = var(vector, ddof=ddof)
    return found if found is UNANSWERED else np.sqrt(found)


def _position(vector: LazyVector, find: Rule, better: Rule) -> Any:
    """The first of equals, the first NaN before all."""
    best, at, start = None, 0, 0
    for block in blocks(vector):
        here = int(find(block))
        value = block[here].item()
        if best is None or better(value, best) or (value != value and best == best):
            best, at = value, start + here
        start += len(block)
    return UNANSWERED if best is None else np.intp(at)


def dot(left: Any, right: Any) -> Any:
    """As np.dot of two vectors of one length, of which the first is lazy."""
    known = isinstance(left, LazyVector) and type(right) is np.ndarray and right.shape == (left.length,)
    if not known or right.dtype != dtype_of(left) or dtype_of(left).kind != "f":
        return UNANSWERED
    start, total = 0, 0.0
    for block in blocks(left):
        total += float(np.dot(block, right[start : start + len(block)]))
        start += len(block)
    return _wrapped(left, total)


def histogram(vector: Any, bins: Any = 10, range: Any = None) -> Any:
    """As np.histogram with a number of bins, or their edges; without weights and density."""
    if not isinstance(vector, LazyVector) or not vector.length or isinstance(bins, str):
        return UNANSWERED
    edges = np.histogram_bin_edges(np.array([vector.min(), vector.max()], dtype_of(vector)), bins, range)
    where = (bins, (edges[0], edges[-1])) if isinstance(bins, int) else (edges, None)
    return np.sum([np.histogram(block, *where)[0] for block in blocks(vector)], axis=0), edges


REDUCTIONS: dict[Any, Rule] = {
    np.sum: sum_,
    np.mean: mean,
    **dict.fromkeys((np.min, np.amin), lambda vector: _wrapped(vector, vector.min())),
    **dict.fromkeys((np.max, np.amax), lambda vector: _wrapped(vector, vector.max())),
    np.var: var,
    np.std: std,
    np.any: lambda vector: np.bool_(any(block.any() for block in blocks(vector))),
    np.all: lambda vector: np.bool_(all(block.all() for block in blocks(vector))),
    np.argmax: lambda vector: _position(vector, np.argmax, lambda a, b: a > b),
    np.argmin: lambda vector: _position(vector, np.argmin, lambda a, b: a < b),
}
"""Taken with `axis` None, 0 or -1, and what the rule names."""

LAZY: dict[Any, tuple[Rule, int, frozenset[str]]] = {
    np.shape: (lambda vector: (vector.length,), 1, frozenset()),
    np.size: (lambda vector: vector.length, 1, frozenset()),
    np.ndim: (lambda _: 1, 1, frozenset()),
    np.dot: (dot, 2, frozenset()),
    np.histogram: (histogram, 3, frozenset({"bins", "range"})),
}
"""Rule, most arguments, names it takes; by_block.py adds its own: this file lies below it."""

METHODS: dict[str, Rule] = {}
"""Methods of a vector whose rule lies above it: "astype" (by_block.py)."""


def answer(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The lazy answer, or UNANSWERED."""
    if not args or not isinstance(args[0], LazyVector):
        return UNANSWERED
    if function in REDUCTIONS:
        rest = dict(kwargs)
        axis = rest.pop("axis", None)
        names = {"ddof"} if function in (np.var, np.std) else set()
        if len(args) > 1 or axis not in (None, 0, -1) or not set(rest) <= names:
            return UNANSWERED
        return REDUCTIONS[function](args[0], **rest)
    rule, most, known = LAZY.get(function, (None, 0, frozenset()))
    if rule is None or len(args) > most or not set(kwargs) <= known:
        return UNANSWERED
    return rule(*args, **kwargs)


def array_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """NEP 18 for lazy vectors: the lazy answer where there is one, else the function on arrays."""
    found = answer(function, args, kwargs)
    if found is not UNANSWERED:
        return found
    by = name_of(function)
    return function(*with_arrays(args, by), **with_arrays(kwargs, by))
