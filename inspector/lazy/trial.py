"""A provider under test: makes every call of `check_lazy`, and catches every exception."""

# SPDX-License-Identifier: MIT
import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from inspector._native import LAZY_BLOCK_BYTES, LazyVector
from inspector.lazy import dispatch, refusals

Array = Any
PATTERNS = (0xA5, 0x5A)
"""Fill bytes of `out`: an element that keeps both, in two calls, was not written."""
GUARD = 8
"""Elements behind `out` that must stay untouched."""
COMPARED = 1 << 22
"""Elements of the data compared, at most."""


class Broken(Exception):
    """A clause does not hold; the text is the evidence."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A provider, and how to call it."""

    provider: Any
    length: int
    dtype: np.dtype[Any]

    @property
    def block(self) -> int:
        """Elements in a block."""
        return max(1, LAZY_BLOCK_BYTES // self.dtype.itemsize)

    @property
    def is_materialized(self) -> bool:
        """Whether all elements are in memory; False if the provider cannot tell."""
        ask = getattr(self.provider, "dataptr_or_null", None)
        return ask is not None and ask() is not None

    @property
    def has_elt(self) -> bool:
        """Whether single elements can be read."""
        return callable(getattr(self.provider, "elt", None))

    @property
    def has_region(self) -> bool:
        """Whether regions can be read."""
        return callable(getattr(self.provider, "get_region", None))

    def positions(self) -> list[int]:
        """Borders: of the vector, of its blocks, of its last partial block."""
        n, block = self.length, self.block
        near = [0, 1, n // 2, n - 2, n - 1, block - 1, block, block + 1, (n // block) * block]
        return sorted({i for i in near if 0 <= i < n})

    def regions(self) -> list[tuple[int, int]]:
        """(start, count): at the borders, across blocks, past the end; at most a block each."""
        n, block = self.length, self.block
        last = (n // block) * block if n % block else max(0, n - block)
        wanted = [(0, 1), (0, block), (1, 3), (n // 2, 7), (block - 1, 2), (block, block), (last, block)]
        wanted += [(n - 1, 1), (n - 1, 5), (n - 3, 8)]
        return sorted({(i, k) for i, k in wanted if 0 <= i < n})

    def elt(self, i: int) -> Array:
        """Element i as an array of one."""
        try:
            value = self.provider.elt(i)
        except Exception as error:
            raise Broken(f"elt({i}) raised {told(error)}") from error
        try:
            return np.array([value]).astype(
                self.dtype, casting="same_kind" if self.dtype.kind != "b" else "unsafe"
            )
        except (TypeError, ValueError, OverflowError) as error:
            return self._narrowed(i, value, error)

    def _narrowed(self, i: int, value: Any, error: Exception) -> Array:
        """A Python int is right for every integer type it fits."""
        try:
            if type(value) is int and self.dtype.kind in "iu":
                return np.array([value], self.dtype)
        except OverflowError:
            pass
        raise Broken(f"elt({i}) is {type(value).__name__}, not {self.dtype.name}") from error

    def region(self, start: int, asked: int, pattern: int = PATTERNS[0]) -> tuple[Any, Array]:
        """(what get_region returned, out with its guard) after one call."""
        out = np.empty(asked + GUARD, self.dtype)
        out.view(np.uint8).fill(pattern)
        try:
            return self.provider.get_region(start, asked, out[:asked]), out
        except Exception as error:
            raise Broken(f"get_region({start}, {asked}, out) raised {told(error)}") from error

    def filled(self, start: int, asked: int) -> Array:
        """The elements of a region; raises Broken if it was not filled or bytes behind it were written."""
        count = min(asked, self.length - start)
        outs = [self.region(start, asked, pattern)[1] for pattern in PATTERNS]
        stale = [
            out.view(np.uint8).reshape(-1, self.dtype.itemsize) == p
            for out, p in zip(outs, PATTERNS, strict=True)
        ]
        unwritten = stale[0].all(1) & stale[1].all(1)
        if unwritten[:count].any():
            first = int(np.flatnonzero(unwritten[:count])[0])
            raise Broken(f"get_region({start}, {asked}, out) left out[{first}] as it was")
        if not unwritten[count:].all():
            first = count + int(np.flatnonzero(~unwritten[count:])[0])
            raise Broken(
                f"get_region({start}, {asked}, out) wrote out[{first}]: only {count} elements are left"
            )
        return outs[0][:count]

    def everything(self) -> Array:
        """All elements, materialized (at most COMPARED of a long vector are compared)."""
        try:
            if isinstance(self.provider, LazyVector):
                return dispatch.array_of(self.provider, "check_lazy")
            there = self.provider.dataptr()
        except Exception as error:
            raise Broken(f"dataptr() raised {told(error)}") from error
        if type(there) is int:
            raw: Any = (ctypes.c_char * (self.length * self.dtype.itemsize)).from_address(there)
            return np.frombuffer(raw, self.dtype).copy()  # a provider may move its data: then this is freed
        return np.asarray(there)


def same(left: Array, right: Array) -> bool:
    """Whether they are equal bit for bit; all NaNs are equal."""
    if left.dtype != right.dtype or left.shape != right.shape:
        return False
    size = left.dtype.itemsize
    equal = (_bytes(left, size) == _bytes(right, size)).all(1)
    if left.dtype.kind == "f":
        equal |= np.isnan(left) & np.isnan(right)
    return bool(equal.all())


def _bytes(array: Array, size: int) -> Array:
    return np.ascontiguousarray(array).view(np.uint8).reshape(-1, size)


def told(error: BaseException) -> str:
    """An exception as evidence."""
    return f"{type(error).__name__}: {str(error)[:80]}"


def trial_of(provider: Any) -> Trial:
    """The trial of a provider; InspectorError (lazy-not-a-provider) for anything else."""
    attributes: Callable[..., Any] = getattr
    if not callable(getattr(provider, "elt", None)) and not callable(getattr(provider, "get_region", None)):
        raise refusals.not_lazy(provider)
    try:
        length = attributes(provider, "length", None)
        length = len(provider) if length is None else length() if callable(length) else length
        dtype = np.dtype(attributes(provider, "dtype"))
    except (TypeError, AttributeError) as error:
        raise refusals.not_lazy(provider) from error
    if type(length) is not int or length < 0:
        raise refusals.not_lazy(provider)
    return Trial(provider, length, dtype)
