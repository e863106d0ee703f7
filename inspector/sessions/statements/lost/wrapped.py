"""Arithmetic of integers that wraps around: `a + b` of uint8, `img[1:] - img[:-1]`, `n ** 2` of int32.

Before a statement runs, its expression is evaluated twice, by NumPy and with Python's ints. Only names, items
by constants and slices, and operators are evaluated, so no code of the user's runs. After it, the statement's
value must be what NumPy's arithmetic gave. What goes on into a call, as `a + b` of `f(a + b)`, nobody sees:
it is told only of NumPy's own arrays, and where nothing is called before.
"""

# SPDX-License-Identifier: MIT
import ast
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any, Final, Literal, NamedTuple

from inspector.facts.conversion import Loss
from inspector.facts.statements import Written
from inspector.sessions.statements.converted import site
from inspector.sessions.statements.lost.arithmetic import OPERATORS, Sought, sought, sum_of
from inspector.sessions.statements.lost.leaves import MOST, leaf, only_numpy
from inspector.sessions.statements.lost.summed import evaluated
from inspector.sessions.statements.memory import Unread, array_of, is_plain

MOST_BITS: Final = 64
"""The largest exponent, and the longest shift."""
_MOST_SHOWN: Final = 128
"""Bits of a number that is shown with all its digits."""
_NO_ZERO: Final = (ast.FloorDiv, ast.Mod)
_SMALL_RIGHT: Final = (ast.Pow, ast.LShift, ast.RShift)


_MIXING: Final = (ast.BitXor, ast.BitAnd, ast.BitOr, ast.RShift)
_MIXER: Final = 10**6
"""No count or price is multiplied by a larger odd number; hash functions and random numbers are."""


class Expected(NamedTuple):
    """Elements of an expression: as NumPy computes them, and as they would be without a limit."""

    of: Sought
    shape: tuple[int, ...]
    places: Any
    wrapped: Any
    exact: Any
    is_meant: bool


def expected(written: Written, frame: FrameType) -> Expected | None:
    """What a statement is about to compute; None where nothing wraps, or where that cannot be told."""
    np: Any = sys.modules.get("numpy")
    for one in sought(written) if np is not None else ():
        try:
            with np.errstate(all="ignore"):
                if one.is_whole or only_numpy(one.expression, frame):
                    return _expected(one, frame, np)
        except (Unread, IndexError, TypeError, ValueError, OverflowError, ZeroDivisionError):
            continue
    return None


def _expected(one: Sought, frame: FrameType, np: Any) -> Expected | None:
    if (added := sum_of(one.expression)) is not None:
        both = evaluated(added, frame, np)
        return None if both is None else _of_sum(one, *both, np)
    leaves = {node: leaf(node, frame, np) for node in _leaves(one.expression)}
    return _evaluated(one, leaves, np) if any(map(_is_integers, leaves.values())) else None


def _of_sum(one: Sought, narrow: Any, exact: Any, np: Any) -> Expected | None:
    flat = np.arange(0, narrow.size, max(-(-narrow.size // MOST), 1))
    places = np.unravel_index(flat, narrow.shape) if narrow.shape else ()
    some, wide = np.atleast_1d(narrow[places]), np.atleast_1d(exact[places]).astype(object)
    return None if (wide == some).all() else Expected(one, narrow.shape, places, some, wide, False)


def wrapped(written: Written, had: Expected, frame: FrameType, value: Any) -> Iterator[Loss]:
    """At most one loss. `value`: what the statement returned."""
    np: Any = sys.modules["numpy"]
    if had.of.is_whole and not _is_proved(had, frame, value, np):
        return
    lost = np.flatnonzero(had.exact != had.wrapped)
    first, compared, count = int(lost[0]), had.exact.size, int(np.prod(had.shape))
    at = int(np.ravel_multi_index([axis[first] for axis in had.places], had.shape)) if had.shape else 0
    sure: Literal["certain", "by sample"] = "certain" if compared == count else "by sample"
    pair = _text(had.exact[first]), str(had.wrapped[first])
    told = (*pair, at, len(lost), compared, count, 1, sure, site(written))
    yield Loss("wrapped", "", *told, is_meant=had.is_meant)


def _is_proved(had: Expected, frame: FrameType, value: Any, np: Any) -> bool:
    """Whether the statement's value has what NumPy's arithmetic gave."""
    try:
        if had.of.target is not None:
            made = np.asarray(leaf(had.of.target, frame, np))
        else:
            made = np.asarray(value if is_plain(value, np) else array_of(value, np))
        alike = made.dtype == had.wrapped.dtype and made.shape == had.shape
        return alike and bool(np.array_equal(np.atleast_1d(made[had.places]), had.wrapped))
    except (Unread, IndexError, TypeError, ValueError):
        return False


def _text(exact: Any) -> str:
    bits = int(exact).bit_length()
    return str(exact) if bits <= _MOST_SHOWN else f"an int of {bits} bits"


def _leaves(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp):
        yield from _leaves(node.left)
        yield from _leaves(node.right)
    elif isinstance(node, ast.UnaryOp):
        yield from _leaves(node.operand)
    else:
        yield node


def _is_integers(one: Any) -> bool:
    """Whether they are NumPy's."""
    return hasattr(one, "dtype") and one.dtype.kind in "iu"


def _evaluated(one: Sought, leaves: dict[ast.expr, Any], np: Any) -> Expected | None:
    node = one.expression
    shape = np.broadcast_shapes(*(np.shape(one) for one in leaves.values()))
    size = int(np.prod(shape))
    flat = np.arange(0, size, max(-(-size // MOST), 1))
    places = np.unravel_index(flat, shape) if shape else ()
    some = {key: np.broadcast_to(had, shape)[places] if np.ndim(had) else had for key, had in leaves.items()}
    if not len(flat) or not _may_wrap(node, some, np):
        return None
    made = np.atleast_1d(_narrow(node, some))
    exact = np.broadcast_to(np.atleast_1d(_exact(node, some, np)), made.shape)
    if made.dtype.kind not in "iu" or (exact == made).all():
        return None
    return Expected(one, shape, places, made, exact, _is_meant(node, leaves, made.dtype))


def _is_meant(node: ast.expr, leaves: dict[ast.expr, Any], made: Any) -> bool:
    """Whether unsigned numbers of 4 or 8 bytes are mixed, where what does not fit is to go."""
    if made.kind != "u" or made.itemsize < 4:
        return False
    steps = [one for one in ast.walk(node) if isinstance(one, ast.BinOp) and one not in leaves]
    factors = (part for one in steps if isinstance(one.op, ast.Mult) for part in (one.left, one.right))
    numbers = (int(leaves[one]) for one in factors if one in leaves and not getattr(leaves[one], "shape", ()))
    return any(isinstance(one.op, _MIXING) for one in steps) or any(n % 2 and n > _MIXER for n in numbers)


def _narrow(node: ast.expr, some: dict[ast.expr, Any]) -> Any:
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](_narrow(node.left, some), _narrow(node.right, some))
    return -_narrow(node.operand, some) if isinstance(node, ast.UnaryOp) else some[node]


def _exact(node: ast.expr, some: dict[ast.expr, Any], np: Any) -> Any:
    """The same with Python's ints."""
    if isinstance(node, ast.BinOp):
        left, right = _exact(node.left, some, np), _exact(node.right, some, np)
        if isinstance(node.op, _NO_ZERO) and not np.all(right):
            raise Unread
        if isinstance(node.op, _SMALL_RIGHT) and not (0 <= np.min(right) <= np.max(right) <= MOST_BITS):
            raise Unread
        return OPERATORS[type(node.op)](left, right)
    if isinstance(node, ast.UnaryOp):
        return -_exact(node.operand, some, np)
    return np.asarray(some[node]).astype(object)[()]


def _may_wrap(node: ast.expr, some: dict[ast.expr, Any], np: Any) -> bool:
    """Whether some operator's result may not fit, by the smallest and the largest operands."""
    if not isinstance(node, (ast.BinOp, ast.UnaryOp)):
        if not (type(some[node]) is int or _is_integers(some[node])):
            raise Unread  # truths, or floats, which have no such limit
        return False
    parts = (node.operand,) if isinstance(node, ast.UnaryOp) else (node.left, node.right)
    if any(_may_wrap(one, some, np) for one in parts):
        return True
    ends = [[int(end(_narrow(one, some))) for end in (np.min, np.max)] for one in parts]
    made = np.asarray(_narrow(node, some))
    if made.dtype.kind not in "iu":
        raise Unread
    if isinstance(node, ast.UnaryOp):
        reached = [-one for one in ends[0]]
    elif isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)) or (
        isinstance(node.op, _SMALL_RIGHT) and 0 <= ends[1][0] <= ends[1][1] <= MOST_BITS
    ):
        reached = [OPERATORS[type(node.op)](left, right) for left in ends[0] for right in ends[1]]
    else:
        return False  # the others give nothing larger than their operands
    limits = np.iinfo(made.dtype)
    return bool(min(reached) < limits.min or max(reached) > limits.max)
