"""The tree of a statement's text, made once, and the numbers in it."""

# SPDX-License-Identifier: MIT
import ast
import operator
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from inspector.objects.quiet_compile import quietly

_MOST_POWER: Final = 64
_FOLDED: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
}  # fmt: skip


@lru_cache(1024)
def tree(text: str) -> ast.stmt | None:
    """The statement; None of the head of a compound one, and of an empty text. Nobody may change it."""
    try:
        with quietly():
            return ast.parse(text).body[0]
    except (SyntaxError, IndexError, ValueError, RecursionError, MemoryError):
        return None


def integer(node: ast.AST) -> int | None:
    """What `5`, `-5` or `10**16 + 1` is; None for any other expression."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = integer(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.BinOp) and (done := _FOLDED.get(type(node.op))):
        left, right = integer(node.left), integer(node.right)
        if (
            left is None
            or right is None
            or (isinstance(node.op, (ast.Pow, ast.LShift)) and not 0 <= right <= _MOST_POWER)
        ):
            return None
        return int(done(left, right))
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None
