"""A list that an array's own method made of its elements, whatever part of the array it was asked for."""

# SPDX-License-Identifier: MIT
import ast
from typing import Any, Final, NamedTuple

from inspector.sessions.statements.syntax import tree
from inspector.sessions.statements.values import Before

_METHODS: Final = ("tolist", "to_list", "to_pylist")
_SAME_ELEMENTS: Final = ("T", "mT", "values")
"""Attributes of an array that show its elements with their type."""
_NUMBERS: Final = (int, float, complex, bool)


class Listed(NamedTuple):
    """Of what a list was made, how many numbers it holds of which type, and the array's bytes of them."""

    of: str
    became: str
    bytes: int


def listed(text: str, value: Any, operands: dict[str, Before]) -> Listed | None:
    """What `x[...].tolist()` made; None for other statements, and where the elements are no numbers."""
    source = _source(text) if any(f".{method}()" in text for method in _METHODS) else None
    one = None if source is None else operands.get(_root(source))
    if source is None or one is None or len(one.blocks) != 1 or one.total != 1 or not one.blocks[0].numeric:
        return None
    count, number = _numbers(value)
    if type(number) not in _NUMBERS:
        return None
    became = f"{count:,} {type(number).__name__}"
    return Listed(ast.unparse(source), became, count * one.blocks[0].itemsize_bytes)


def _source(text: str) -> ast.expr | None:
    """The expression whose method is the right side of a statement."""
    call = getattr(tree(text), "value", None)
    method = call.func if isinstance(call, ast.Call) else None
    return method.value if isinstance(method, ast.Attribute) and method.attr in _METHODS else None


def _root(source: ast.expr) -> str:
    """The name whose elements an expression shows by items and attributes alone; "" where it does not."""
    while not isinstance(source, ast.Name):
        if isinstance(source, ast.Attribute) and source.attr not in _SAME_ELEMENTS:
            return ""
        if not isinstance(source, (ast.Attribute, ast.Subscript)):
            return ""
        source = source.value
    return source.id


def _numbers(value: Any) -> tuple[int, Any]:
    """(how many numbers lists of lists of one length hold, the first of them)."""
    count = 1
    while type(value) is list and value:
        count, value = count * len(value), value[0]
    return count, value
