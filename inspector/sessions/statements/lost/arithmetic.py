"""Which expression of a statement is arithmetic that may wrap around, and what has its value afterwards."""

# SPDX-License-Identifier: MIT
import ast
import operator
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple

from inspector.facts.statements import Written
from inspector.sessions.statements.lost.leaves import dtype_of, is_of_numpy, of_column
from inspector.sessions.statements.syntax import tree

OPERATORS: Final[dict[type[ast.AST], Callable[..., Any]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Pow: operator.pow,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip
_FUNCTIONS: Final[dict[str, Callable[[], Any]]] = {
    "add": ast.Add, "subtract": ast.Sub, "multiply": ast.Mult, "power": ast.Pow, "left_shift": ast.LShift,
}  # fmt: skip
"""NumPy's functions that do what an operator does."""
SUMS: Final = frozenset(("sum", "cumsum", "prod", "cumprod", "dot", "matmul"))
_MENDS: Final = frozenset((
    "bitwise_and", "mod", "remainder", "fmod", "right_shift", "view", "uint8", "int8", "uint16", "int16",
))  # fmt: skip
"""Functions that take the low bits of what they are given, or read them in another way."""
_NARROW: Final = frozenset(("u1", "i1", "u2", "i2", "uint8", "int8", "uint16", "int16", "ubyte", "byte"))
_LOW_BITS: Final = (ast.BitAnd, ast.Mod)


class Sought(NamedTuple):
    """An expression that may wrap around."""

    expression: ast.expr
    target: ast.expr | None
    """What has its value afterwards; None: it is returned."""
    is_whole: bool
    """Whether it is all that the statement computes; else its value goes on into a call."""


@lru_cache(1024)
def sought(written: Written) -> tuple[Sought, ...]:
    """The whole right side, and the first part of it that is evaluated before any other call."""
    node: Any = tree(written.text)
    whole = _whole(node)
    inner = (
        None if whole is not None and not is_sum(whole.expression) else _first(getattr(node, "value", None))
    )
    if inner is None or (whole is not None and inner is whole.expression):
        return () if whole is None else (whole,)
    return (*(() if whole is None else (whole,)), Sought(inner, None, False))


def _whole(node: Any) -> Sought | None:
    if isinstance(node, ast.AugAssign) and type(node.op) in OPERATORS:
        given: ast.expr = ast.BinOp(node.target, node.op, node.value)
        return Sought(given, node.target, True) if is_arithmetic(node.value) else None
    if isinstance(node, ast.Expr):
        return _into(node.value)
    is_assigned = isinstance(node, ast.Assign) and len(node.targets) == 1
    if not (is_assigned or isinstance(node, ast.Return)):
        return None
    given = operator_of(node.value)
    return Sought(given, node.targets[0] if is_assigned else None, True) if _is_candidate(given) else None


def _into(call: Any) -> Sought | None:
    """`np.add(x, y, out=z)`."""
    if not is_of_numpy(call) or [one.arg for one in call.keywords] != ["out"]:
        return None
    given = operator_of(ast.Call(call.func, call.args, []))
    is_known = isinstance(given, ast.BinOp) and is_arithmetic(given)
    return Sought(given, call.keywords[0].value, True) if is_known else None


def _is_candidate(node: Any) -> bool:
    return is_sum(node) or (isinstance(node, (ast.BinOp, ast.UnaryOp)) and is_arithmetic(node))


def _first(node: Any) -> ast.expr | None:
    """The first arithmetic within an expression, unless something else is called before; not what a later
    step takes the low bits of, and not what may not be evaluated at all."""
    if node is None or _is_candidate(operator_of(node)):
        return operator_of(node) if node is not None else None
    if isinstance(node, ast.Call) and _takes_low_bits(node):
        return None
    if isinstance(node, ast.BinOp) and isinstance(node.op, _LOW_BITS):
        return None
    for part in _parts(node):
        found = _first(part)
        if found is not None or any(isinstance(one, ast.Call) for one in ast.walk(part)):
            return found
    return None


def _takes_low_bits(node: ast.Call) -> bool:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    given = [*node.args, *(one.value for one in node.keywords if one.arg == "dtype")]
    kinds = {one.attr if isinstance(one, ast.Attribute) else getattr(one, "value", "") for one in given}
    is_cast = name in ("astype", "array", "asarray", "cast")
    return name in _MENDS or (is_cast and any(type(one) is str and one in _NARROW for one in kinds))


def _parts(node: Any) -> Iterator[ast.expr]:
    """Parts of an expression that are evaluated in any case, in that order."""
    if isinstance(node, ast.Call):
        yield from (node.func, *node.args, *(one.value for one in node.keywords))
    elif isinstance(node, (ast.Attribute, ast.Starred, ast.FormattedValue)):
        yield node.value
    elif isinstance(node, ast.BinOp):
        yield from (node.left, node.right)
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.Compare):
        yield from (node.left, node.comparators[0])
    elif isinstance(node, (ast.List, ast.Tuple)):
        yield from node.elts
    elif isinstance(node, ast.Subscript):
        yield from (node.value, node.slice)
    elif isinstance(node, ast.JoinedStr):
        yield from node.values


def always(node: ast.expr) -> Iterator[ast.expr]:
    """An expression and its parts that are evaluated in any case."""
    yield node
    for part in _parts(node):
        yield from always(part)


def operator_of(node: Any) -> Any:
    """`a + b` of `np.add(a, b)`, `a * a` of `np.square(a)`, `x[1:] - x[:-1]` of `np.diff(x)`; any other
    expression as it is."""
    if not is_of_numpy(node) or node.keywords:
        return node
    name, given = node.func.attr, node.args
    if len(given) == 2 and name in _FUNCTIONS:
        return ast.BinOp(given[0], _FUNCTIONS[name](), given[1])
    if len(given) != 1:
        return node
    if name == "square":
        return ast.BinOp(given[0], ast.Mult(), given[0])
    if name == "negative":
        return ast.UnaryOp(ast.USub(), given[0])
    if name != "diff" or isinstance(given[0], (ast.BinOp, ast.UnaryOp)):
        return node
    one = ast.Constant(1)
    later, earlier = ast.Slice(one, None), ast.Slice(None, ast.UnaryOp(ast.USub(), one))
    return ast.BinOp(ast.Subscript(given[0], later), ast.Sub(), ast.Subscript(given[0], earlier))


def is_arithmetic(node: Any) -> bool:
    """Whether it is made of names, attributes, items, arrays and operators that can be evaluated."""
    if is_of_numpy(node):
        return True
    if (column := of_column(node)) is not None:
        return is_arithmetic(column)
    if isinstance(node, ast.BinOp):
        return type(node.op) in OPERATORS and is_arithmetic(node.left) and is_arithmetic(node.right)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and is_arithmetic(node.operand)
    if isinstance(node, (ast.Subscript, ast.Attribute)):
        return is_arithmetic(node.value)
    return isinstance(node, ast.Name) or (isinstance(node, ast.Constant) and type(node.value) is int)


class Sum(NamedTuple):
    """`x.sum(axis=0, dtype="i1")`, `x @ y`."""

    name: str
    operands: tuple[ast.expr, ...]
    axis: int | None
    dtype: Any


def is_sum(node: Any) -> bool:
    """Whether it is one that can be evaluated."""
    return sum_of(node) is not None


def sum_of(node: Any) -> Sum | None:
    """A sum, a product, or a product of matrices; None for anything else."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return Sum("matmul", (node.left, node.right), None, None)
    if (
        not isinstance(node, ast.Call)
        or not isinstance(node.func, ast.Attribute)
        or node.func.attr not in SUMS
    ):
        return None
    given = node.args if is_of_numpy(node) else [node.func.value, *node.args]
    words = {one.arg: one.value for one in node.keywords}
    count = 2 if node.func.attr in ("dot", "matmul") else 1
    if len(given) not in (count, 2) or not words.keys() <= {"axis", "dtype"}:
        return None
    try:
        axis = ast.literal_eval(given[1] if len(given) > count else words.get("axis", ast.Constant(None)))
        dtype = dtype_of(words["dtype"]) if "dtype" in words else None
    except ValueError:
        return None
    return (
        Sum(node.func.attr, tuple(given[:count]), axis, dtype) if axis is None or type(axis) is int else None
    )
