"""Arithmetic, comparisons and len() over values that are read from a stopped process: no code runs there."""

# SPDX-License-Identifier: MIT
import ast
import operator
from collections.abc import Callable
from typing import Any, Final

from inspector.errors import InspectorError
from inspector.objects.quiet_compile import quietly

_BINARY: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
_COMPARED: Final[dict[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
_UNARY: Final[dict[type[ast.unaryop], Callable[[Any], Any]]] = {
    ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Not: operator.not_,
}  # fmt: skip
_NUMBERS: Final = (int, float, bool)


class Computed:
    """`read` gives the value at a path, `size` the length of what stands there; both raise InspectorError."""

    def __init__(self, read: Callable[[str], Any], size: Callable[[str], int]) -> None:
        self._read, self._size = read, size

    def value(self, expression: str) -> Any:
        """The value. Raises InspectorError not-a-path."""
        try:
            with quietly():
                return self._of(ast.parse(expression.strip(), mode="eval").body)
        except (SyntaxError, ValueError, TypeError, ArithmeticError, MemoryError, RecursionError) as error:
            raise _refused(expression, str(error)) from None

    def _of(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
            return _UNARY[type(node.op)](self._of(node.operand))
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            return self._binary(node)
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARED:
            return _COMPARED[type(node.ops[0])](self._of(node.left), self._of(node.comparators[0]))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "len" and len(node.args) == 1:
            return self._size(ast.unparse(node.args[0]))
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            return self._read(ast.unparse(node))
        raise ValueError("no code runs in a process that stands in gdb")

    def _binary(self, node: ast.BinOp) -> Any:
        left, right = self._of(node.left), self._of(node.right)
        joins = isinstance(node.op, ast.Add) and isinstance(left, str) and isinstance(right, str)
        if not joins and not (isinstance(left, _NUMBERS) and isinstance(right, _NUMBERS)):
            raise ValueError("only numbers are computed with, and str joined")
        return _BINARY[type(node.op)](left, right)


def _refused(expression: str, why: str) -> InspectorError:
    return InspectorError(
        f"{expression.strip()[:60]!r} is not computed here.",
        slug="not-a-path",
        why=why,
        do="use names, attributes, constant indexes, len(), arithmetic and comparisons",
    )
