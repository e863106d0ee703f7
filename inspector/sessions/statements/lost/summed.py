"""Sums and products of integers that wrap around: `np.cumsum(x, dtype="i1")`, `x.prod()`, `a @ b`.

Each is computed twice, in its own type and in one that has room for it, where the largest of the numbers says
that it may not fit.
"""

# SPDX-License-Identifier: MIT
from math import log2
from types import FrameType
from typing import Any, Final

from inspector.sessions.statements.lost.arithmetic import Sum
from inspector.sessions.statements.lost.leaves import leaf
from inspector.sessions.statements.memory import Unread

_MOST_BYTES: Final = 1 << 22
_MOST_PRODUCTS: Final = 1 << 20
"""Of two matrices."""
_MOST_OBJECTS: Final = 1 << 12
_WIDE: Final = 63
"""Bits of a number that has room in 8 bytes with its sign."""


def evaluated(one: Sum, frame: FrameType, np: Any) -> tuple[Any, Any] | None:
    """What a sum is about to give, and what it would be without a limit; None where all of it fits."""
    given = [np.asarray(leaf(operand, frame, np)) for operand in one.operands]
    if any(some.dtype.kind not in "iu" or not some.size or some.nbytes > _MOST_BYTES for some in given):
        raise Unread
    kind = _kind(one, given, np)
    bits = _bits(one, given, np)
    if kind.kind not in "iu" or bits <= np.iinfo(kind).bits - (kind.kind == "i"):
        return None
    if bits > _WIDE and sum(some.size for some in given) > _MOST_OBJECTS:
        raise Unread
    wide = "i8" if bits < _WIDE else object
    return _computed(one, given, np, kind), _computed(one, given, np, wide)


def _kind(one: Sum, given: list[Any], np: Any) -> Any:
    """The type that NumPy computes it in."""
    if len(given) == 2:
        return np.result_type(*given)
    some = given[0].ravel()[:1]
    return getattr(np, one.name)(some, dtype=one.dtype).dtype


def _bits(one: Sum, given: list[Any], np: Any) -> float:
    """Bits of the largest number that it may give."""
    largest = [max(abs(int(some.min())), abs(int(some.max())), 1) for some in given]
    if one.name in ("prod", "cumprod"):
        return given[0].size * log2(largest[0]) if largest[0] > 1 else 0
    if len(given) == 1:
        return log2(largest[0]) + log2(given[0].size)
    if not all(some.ndim in (1, 2) for some in given) or given[0].size * given[1].shape[-1] > _MOST_PRODUCTS:
        raise Unread
    return sum(map(log2, largest)) + log2(given[0].shape[-1])


def _computed(one: Sum, given: list[Any], np: Any, kind: Any) -> Any:
    if len(given) == 2:
        return np.dot(*(some.astype(kind) for some in given))
    some = given[0].astype(object) if kind is object else given[0]
    found = getattr(np, one.name)(some, axis=one.axis, dtype=kind)
    return np.asarray(found, kind)
