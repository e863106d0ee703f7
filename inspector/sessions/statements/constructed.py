"""Numbers that a constructor was given and that its array has no room for: `torch.Tensor([16777217])`,
`jax.numpy.array(x)` of 64 bits, `(ctypes.c_int * 2)(1 << 31, 5)`. No call of these shows both sides."""

# SPDX-License-Identifier: MIT
import ast
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any, Final

from inspector.adapters.base import type_module
from inspector.adapters.columns import MOST_COMPARED, cast
from inspector.facts.conversion import CONSTRUCTED, Loss
from inspector.facts.statements import Written
from inspector.sessions.statements import values
from inspector.sessions.statements.converted import loss_of
from inspector.sessions.statements.memory import NUMBERS, Unread, array_of
from inspector.sessions.statements.syntax import integer, tree

_OF_TORCH: Final = ("", "BFloat16", "Byte", "Char", "Double", "Float", "Half", "Int", "Long", "Short")
_NAMES: Final = frozenset(("array", "asarray", "Series", *(f"{kind}Tensor" for kind in _OF_TORCH)))
"""Functions whose first argument has the elements of what they make."""


def given(written: Written, frame: FrameType) -> Any:
    """The numbers that a statement's one call was given, flat, as NumPy's array; None where it is no
    constructor, and where they are not all known."""
    node: Any = getattr(tree(written.text), "value", None) if "(" in written.text else None
    np: Any = sys.modules.get("numpy")
    if np is None or not isinstance(node, ast.Call) or not node.args:
        return None
    parts = node.args[:1] if _name(node.func) in _NAMES else node.args
    try:
        found = np.concatenate([_read(one, frame, np) for one in parts])
    except (Unread, OverflowError, TypeError, ValueError):
        return None
    return found if found.dtype.kind in NUMBERS else None


def lost(written: Written, source: Any, made: Any) -> Iterator[Loss]:
    """At most one: what the elements of the array that the call made have lost of those numbers."""
    node: Any = tree(written.text)
    if _name(node.value.func) not in _NAMES and type_module(type(type(made))) != "_ctypes":
        return
    try:
        found = array_of(made, sys.modules["numpy"]).ravel()
        change = cast(source, found) if found.size == source.size and found.dtype.kind in NUMBERS else None
    except Unread:
        return
    if change is not None:
        yield loss_of(written, CONSTRUCTED, change, source.size)


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _read(node: ast.expr, frame: FrameType, np: Any) -> Any:
    """The numbers that an expression of constants and names has, flat."""
    if isinstance(node, ast.Starred):
        return _read(node.value, frame, np)
    if isinstance(node, (ast.List, ast.Tuple)):
        return np.concatenate([_read(one, frame, np) for one in node.elts])
    if isinstance(node, (ast.Name, ast.Attribute)):
        found = values.read(frame, ast.unparse(node))
        return _numbers(found[0] if found else None, np)
    if isinstance(node, ast.Call):
        return _read(_inner(node), frame, np)
    whole = integer(node)
    return _numbers(ast.literal_eval(node) if whole is None else whole, np)


def _inner(node: ast.Call) -> ast.expr:
    """What has the elements of a call within: `[2, 3]` of `np.array([2, 3])`, `x` of `x.tolist()`."""
    if isinstance(node.func, ast.Attribute) and node.func.attr == "tolist":
        return node.func.value
    if _name(node.func) not in _NAMES or not node.args:
        raise Unread
    return node.args[0]


def _numbers(held: Any, np: Any) -> Any:
    if type(held) in (list, tuple):
        if len(held) > MOST_COMPARED:
            raise Unread
        return np.concatenate([_numbers(one, np) for one in held]) if held else np.empty(0)
    if type(held) in (int, float):
        return np.array([held])
    return array_of(held, np).ravel().copy()
