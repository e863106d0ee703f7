"""Arithmetic of integers that wraps around: `a + b` of uint8, `img[1:] - img[:-1]`, `n ** 2` of int32.

Before a statement runs, its expression is evaluated twice, by NumPy and with Python's ints. Only names, items
by constants and slices, and operators are evaluated, so no code of the user's runs. After it, the statement's
value must be what NumPy's arithmetic gave.
"""

# SPDX-License-Identifier: MIT
import ast
import operator
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import FrameType
from typing import Any, Final, Literal, NamedTuple

from inspector.facts.conversion import Loss
from inspector.facts.statements import Written
from inspector.sessions.statements import values
from inspector.sessions.statements.converted import site
from inspector.sessions.statements.memory import Unread, array_of, is_plain
from inspector.sessions.statements.syntax import tree

MOST: Final = 1 << 12
"""Elements that are evaluated; of more, evenly spread ones."""
MOST_BITS: Final = 64
"""The largest exponent, and the longest shift."""
_OPERATORS: Final[dict[type[ast.AST], Callable[..., Any]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Pow: operator.pow,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip
_FUNCTIONS: Final[dict[str, Callable[[], Any]]] = {
    "add": ast.Add, "subtract": ast.Sub, "multiply": ast.Mult, "power": ast.Pow, "left_shift": ast.LShift,
}  # fmt: skip
"""NumPy's functions that do what an operator does."""
_NO_ZERO: Final = (ast.FloorDiv, ast.Mod)
_SMALL_RIGHT: Final = (ast.Pow, ast.LShift, ast.RShift)


_MIXING: Final = (ast.BitXor, ast.BitAnd, ast.BitOr, ast.RShift)
_MIXER: Final = 10**6
"""No count or price is multiplied by a larger odd number; hash functions and random numbers are."""


class Expected(NamedTuple):
    """Elements of a statement's value: as NumPy computes them, and as they would be without a limit."""

    node: ast.expr | None
    """The target that has them afterwards; None: they are returned."""
    shape: tuple[int, ...]
    places: Any
    wrapped: Any
    exact: Any
    is_meant: bool


def expected(written: Written, frame: FrameType) -> Expected | None:
    """What a statement is about to compute; None where nothing wraps, or where that cannot be told."""
    np: Any = sys.modules.get("numpy")
    found = _computed(written) if np is not None else None
    if found is None:
        return None
    target, expression = found
    try:
        leaves = {node: _leaf(node, frame, np) for node in _leaves(expression)}
        if not any(_is_integers(one) for one in leaves.values()):
            return None
        with np.errstate(all="ignore"):
            return _evaluated(target, expression, leaves, np)
    except (Unread, IndexError, TypeError, ValueError, OverflowError, ZeroDivisionError):
        return None


def shown(text: str, frame: FrameType) -> Any:
    """The array or number that `x[2, ::3]` shows, without a user's code; None where that is not known."""
    np: Any = sys.modules.get("numpy")
    try:
        return None if np is None else _leaf(ast.parse(text, mode="eval").body, frame, np)
    except (Unread, SyntaxError, IndexError, TypeError, ValueError, OverflowError):
        return None


def wrapped(written: Written, had: Expected, frame: FrameType, value: Any) -> Iterator[Loss]:
    """At most one loss. `value`: what the statement returned."""
    np: Any = sys.modules["numpy"]
    try:
        now = array_of(value, np) if had.node is None else _leaf(had.node, frame, np)
        made = np.asarray(now)
        if made.dtype != had.wrapped.dtype or made.shape != had.shape:
            return
        if not np.array_equal(made[had.places], had.wrapped):
            return
    except (Unread, IndexError, TypeError, ValueError):
        return
    lost = np.flatnonzero(had.exact != had.wrapped)
    first, compared = int(lost[0]), had.exact.size
    at = int(np.ravel_multi_index([axis[first] for axis in had.places], had.shape)) if had.shape else 0
    sure: Literal["certain", "by sample"] = "certain" if compared == made.size else "by sample"
    pair = str(had.exact[first]), str(had.wrapped[first])
    yield Loss(
        "wrapped",
        "",
        *pair,
        at,
        len(lost),
        compared,
        made.size,
        1,
        sure,
        site(written),
        is_meant=had.is_meant,
    )


@lru_cache(1024)
def _computed(written: Written) -> tuple[ast.expr | None, ast.expr] | None:
    """(target, expression) of a statement that computes by operators alone."""
    node: Any = tree(written.text)
    if isinstance(node, ast.AugAssign) and type(node.op) in _OPERATORS:
        given: ast.expr = ast.BinOp(node.target, node.op, node.value)
        return (node.target, given) if _is_arithmetic(node.value) else None
    is_assigned = isinstance(node, ast.Assign) and len(node.targets) == 1
    if not (is_assigned or isinstance(node, ast.Return)):
        return None
    whole = _operator_of(node.value)
    if not isinstance(whole, (ast.BinOp, ast.UnaryOp)) or not _is_arithmetic(whole):
        return None
    return (node.targets[0] if is_assigned else None), whole


def _operator_of(node: Any) -> Any:
    """`a + b` of `np.add(a, b)`; any other expression as it is."""
    if not _is_of_numpy(node) or len(node.args) != 2 or node.keywords or node.func.attr not in _FUNCTIONS:
        return node
    return ast.BinOp(node.args[0], _FUNCTIONS[node.func.attr](), node.args[1])


def _is_of_numpy(node: Any) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Attribute) and getattr(called.value, "id", "") in ("np", "numpy")


def _made(node: ast.Call, np: Any) -> Any:
    """What `np.array([200, 100], "u1")` makes of numbers that are written there."""
    kinds = [*node.args[1:], *(one.value for one in node.keywords if one.arg == "dtype")]
    if node.func.attr not in ("array", "asarray") or len(kinds) > 1:  # type: ignore[attr-defined]
        raise Unread
    names = [one.attr if isinstance(one, ast.Attribute) else ast.literal_eval(one) for one in kinds]
    return np.array(ast.literal_eval(node.args[0]), *names) if node.args else None


def _is_arithmetic(node: ast.expr) -> bool:
    """Whether it is made of names, attributes, items, arrays and operators that can be evaluated."""
    if _is_of_numpy(node):
        return True
    if isinstance(node, ast.BinOp):
        return type(node.op) in _OPERATORS and _is_arithmetic(node.left) and _is_arithmetic(node.right)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and _is_arithmetic(node.operand)
    if isinstance(node, (ast.Subscript, ast.Attribute)):
        return _is_arithmetic(node.value)
    return isinstance(node, ast.Name) or (isinstance(node, ast.Constant) and type(node.value) is int)


def _leaves(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp):
        yield from _leaves(node.left)
        yield from _leaves(node.right)
    elif isinstance(node, ast.UnaryOp):
        yield from _leaves(node.operand)
    else:
        yield node


def _leaf(node: ast.expr, frame: FrameType, np: Any) -> Any:
    """A number of Python's, or an array or a number of NumPy's."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Call):
        return _made(node, np)
    if isinstance(node, ast.Subscript):
        whole, key = _leaf(node.value, frame, np), _key(node.slice, frame, np)
        if np.size(whole) > MOST and any(map(np.ndim, key if type(key) is tuple else (key,))):
            raise Unread  # what arrays choose would be copied
        return whole[key]
    found = values.read(frame, ast.unparse(node))
    if not found:
        raise Unread
    return found[0] if is_plain(found[0], np) else array_of(found[0], np)


def _key(node: ast.expr, frame: FrameType, np: Any) -> Any:
    if isinstance(node, ast.Tuple):
        return tuple(_key(one, frame, np) for one in node.elts)
    if isinstance(node, ast.Slice):
        ends = (node.lower, node.upper, node.step)
        return slice(*(None if one is None else _key(one, frame, np) for one in ends))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_key(node.operand, frame, np)
    if isinstance(node, ast.Constant) and (node.value in (None, ...) or type(node.value) in (int, str)):
        return node.value
    return _leaf(node, frame, np)


def _is_integers(one: Any) -> bool:
    """Whether they are NumPy's."""
    return hasattr(one, "dtype") and one.dtype.kind in "iu"


def _evaluated(
    target: ast.expr | None, node: ast.expr, leaves: dict[ast.expr, Any], np: Any
) -> Expected | None:
    shape = np.broadcast_shapes(*(np.shape(one) for one in leaves.values()))
    size = int(np.prod(shape))
    flat = np.arange(0, size, max(-(-size // MOST), 1))
    places = np.unravel_index(flat, shape) if shape else ()
    some = {key: np.broadcast_to(one, shape)[places] if np.ndim(one) else one for key, one in leaves.items()}
    if not len(flat) or not _may_wrap(node, some, np):
        return None
    made = np.atleast_1d(_narrow(node, some))
    exact = np.broadcast_to(np.atleast_1d(_exact(node, some, np)), made.shape)
    if made.dtype.kind not in "iu" or (exact == made).all():
        return None
    return Expected(target, shape, places, made, exact, _is_meant(node, leaves, made.dtype))


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
        return _OPERATORS[type(node.op)](_narrow(node.left, some), _narrow(node.right, some))
    return -_narrow(node.operand, some) if isinstance(node, ast.UnaryOp) else some[node]


def _exact(node: ast.expr, some: dict[ast.expr, Any], np: Any) -> Any:
    """The same with Python's ints."""
    if isinstance(node, ast.BinOp):
        left, right = _exact(node.left, some, np), _exact(node.right, some, np)
        if isinstance(node.op, _NO_ZERO) and not np.all(right):
            raise Unread
        if isinstance(node.op, _SMALL_RIGHT) and not (0 <= np.min(right) <= np.max(right) <= MOST_BITS):
            raise Unread
        return _OPERATORS[type(node.op)](left, right)
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
        reached = [_OPERATORS[type(node.op)](left, right) for left in ends[0] for right in ends[1]]
    else:
        return False  # the others give nothing larger than their operands
    limits = np.iinfo(made.dtype)
    return bool(min(reached) < limits.min or max(reached) > limits.max)
