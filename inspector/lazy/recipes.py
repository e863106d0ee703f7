"""`lazy.abs`, `lazy.arange`, `lazy.map`, `lazy.wrap`: new lazy vectors, each in constant time."""

# SPDX-License-Identifier: MIT
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from inspector import _native
from inspector.lazy import freezing, refusals, ufuncs
from inspector.lazy.vector import Vector

_over = _native.lazy_over


def _of(x: Any, absolute: bool) -> Vector:
    made = _native.lazy_over(x, absolute)
    vector: Vector = _native.lazy_over(np.asarray(x), absolute) if made is NotImplemented else made
    return vector


def _protected(x: Any, how: str, copied: int) -> Vector:
    vector = _of(x, True)
    if how:
        vector.note(how, None, copied)
    return vector


def abs(x: Any, *, freeze: bool = False) -> Vector:
    """Absolute values of x, computed when read. O(1) for any length.

    `x` is a lazy vector, or any object with one dimension of numbers in memory; others become an array
    first. It is not copied: if its elements change, so do elements not yet materialized, and `inspect()` says
    "input changed since" if they had been read. `freeze=True` protects it: see docs/reference/lazy.md.
    """
    if freeze:
        return _protected(*freezing.frozen(x))
    made: Vector = _over(x, True)
    return _of(np.asarray(x), True) if made is NotImplemented else made


def source(x: Any) -> Vector:
    """The elements of x as they are, as a lazy vector; x itself if it is one."""
    if isinstance(x, Vector):
        return x
    return _of(x, False)


def arange(*limits: Any, dtype: Any = None) -> Vector:
    """Like `numpy.arange(stop)`, `(start, stop)`, `(start, stop, step)`; stores only three numbers.

    Raises InspectorError (lazy-arange) where NumPy would overflow.
    """
    start, stop, step = ((0, limits[0], 1) if len(limits) == 1 else (*limits, 1))[:3] if limits else (0, 0, 0)
    if not 1 <= len(limits) <= 3:
        raise TypeError("lazy.arange(stop), (start, stop) or (start, stop, step)")
    kind = np.dtype(dtype) if dtype is not None else np.result_type(*(type(n) for n in (start, stop, step)))
    if kind.kind not in "iuf" or kind.itemsize > 8 or kind == np.float16:
        raise refusals.kind(kind)
    if not all(math.isfinite(n) for n in (start, stop, step)) or step == 0:
        raise refusals.range_of(kind.name)
    if all(type(n) is int for n in (start, stop, step)):
        length = len(range(start, stop, step))
        _check_range(kind, start, start + (length - 1) * step if length else start)
    else:
        length = max(0, math.ceil((stop - start) / step))
    first, second = kind.type(start), kind.type(start + step if length > 1 else start)
    by = (second - first).item() if kind.kind == "f" else step
    made: Vector = _native.lazy_arange(kind.char, kind.itemsize, first.item(), second.item(), by, length)
    return made


def _check_range(kind: np.dtype[Any], first: int, last: int) -> None:
    if kind.kind == "f":
        return
    limits = np.iinfo(kind)
    if not (limits.min <= min(first, last) and max(first, last) <= limits.max):
        raise refusals.range_of(kind.name)


class Mapped(Vector):
    """f applied to lazy vectors, block by block: the result of `lazy.map` and NumPy's ufuncs."""

    __slots__ = ("_function", "_inputs")

    def __init__(self, function: Any, inputs: tuple[Any, ...], dtype: Any) -> None:
        self._function = function
        self._inputs = tuple(x if _is_scalar(x) else source(x) for x in inputs)
        vectors = tuple(x for x in self._inputs if isinstance(x, Vector))
        name = getattr(function, "__name__", type(function).__name__)
        over = vectors[0] if len(vectors) == 1 else vectors
        super().__init__(vectors[0].length, dtype, over, f"map({name})")

    def get_region(self, start: int, count: int, out: Any) -> int:
        """f over the same region of every input."""
        count = min(count, self.length - start)
        parts = [x if _is_scalar(x) else _region(x, start, count) for x in self._inputs]
        if isinstance(self._function, np.ufunc):
            self._function(*parts, out=out[:count])
        else:
            out[:count] = [
                self._function(*row) for row in zip(*(part.tolist() for part in parts), strict=True)
            ]
        return count


def _is_scalar(x: Any) -> bool:
    return _native.exactly(x, *ufuncs.SCALARS) or isinstance(x, np.generic)


def _region(vector: Vector, start: int, count: int) -> Any:
    room = np.empty(count, vector.dtype)
    _native.LazyVector.get_region(vector, start, count, room)
    return room


ufuncs.makers.append(Mapped)


def map(f: Callable[..., Any] | np.ufunc, x: Any, dtype: Any = None) -> Vector:
    """f of every element of x, computed when read.

    A NumPy ufunc runs on blocks and knows its dtype. Any other function is called with one Python number at
    a time, and `dtype` is the type of its results; an exception it raises leaves the vector lazy.
    """
    over = source(x)
    if isinstance(f, np.ufunc):
        if f is np.absolute and dtype is None:
            return _of(over, True)
        return Mapped(f, (over,), ufuncs.result_dtype(f, (over,)) if dtype is None else dtype)
    if dtype is None:
        raise refusals.no_dtype(f)
    return Mapped(f, (over,), dtype)


def wrap(provider: Any, keep: Any = None) -> Vector:
    """A lazy vector over a provider written in C (lazy.h): its address, a cffi pointer, or a capsule.

    `keep` is kept alive as long as the vector (a cffi `ffi.new` result keeps itself). Raises InspectorError
    (lazy-abi) if there is no provider of this version at that address.
    """
    if type(provider) is int:
        address = provider
    elif type(provider).__name__ == "PyCapsule":
        address = _native.lazy_capsule(provider)
    else:
        ffi = sys.modules["_cffi_backend"].FFI()  # the object is cffi's, so cffi is there
        address = int(ffi.cast("uintptr_t", provider))
    made: Vector = _native.lazy_foreign(address, (provider, keep))
    return made


freezing.calibrate(abs)


def include() -> str:
    """Folder with `inspector/lazy.h`, for the compiler's -I."""
    return str(Path(_native.__file__ or "").parent / "include")
