"""The arrays and numbers that the names and items in an expression have, for NumPy, without a user's code."""

# SPDX-License-Identifier: MIT
import ast
import sys
from types import FrameType
from typing import Any, Final

from inspector import _native
from inspector.adapters.base import type_module
from inspector.adapters.registry import adapter_of
from inspector.sessions.statements import values
from inspector.sessions.statements.memory import Unread, array_of, block_of, is_plain

MOST: Final = 1 << 12
"""Elements that are evaluated; of more, evenly spread ones."""
_MADE: Final = ("array", "asarray", "arange")
_SAME: Final = ("values", "to_numpy")
"""Attributes and methods of a column that have its elements."""
_COLUMNS: Final = 64


def shown(text: str, frame: FrameType) -> Any:
    """The array or number that `x[2, ::3]` shows, without a user's code; None where that is not known."""
    np: Any = sys.modules.get("numpy")
    try:
        return None if np is None else leaf(ast.parse(text, mode="eval").body, frame, np)
    except (Unread, SyntaxError, IndexError, TypeError, ValueError, OverflowError):
        return None


def is_of_numpy(node: Any) -> bool:
    """Whether it is a call of a function of NumPy's, by the name that it is imported by."""
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Attribute) and getattr(called.value, "id", "") in ("np", "numpy")


def of_column(node: Any) -> ast.expr | None:
    """`x` of `x.values` and `x.to_numpy()`."""
    if isinstance(node, ast.Call) and not node.args and not node.keywords:
        node = node.func
    return node.value if isinstance(node, ast.Attribute) and node.attr in _SAME else None


def leaf(node: ast.expr, frame: FrameType, np: Any) -> Any:
    """A number of Python's, or an array or a number of NumPy's."""
    if isinstance(node, ast.Constant):
        return node.value
    if (column := of_column(node)) is not None:
        return leaf(column, frame, np)
    if isinstance(node, ast.Call):
        return _made(node, np)
    if (some := _of_table(node, frame, np)) is not None:
        return some
    if isinstance(node, ast.Subscript):
        whole, key = leaf(node.value, frame, np), _key(node.slice, frame, np)
        if np.size(whole) > MOST and any(map(np.ndim, key if type(key) is tuple else (key,))):
            raise Unread  # what arrays choose would be copied
        return whole[key]
    found = values.read(frame, ast.unparse(node))
    if not found:
        raise Unread
    return found[0] if is_plain(found[0], np) else array_of(found[0], np)


def only_numpy(node: ast.expr, frame: FrameType) -> bool:
    """Whether all that an expression names are NumPy's own arrays and numbers, or columns of one object of
    pandas: then its operators compute what NumPy's do."""
    np: Any = sys.modules["numpy"]
    held = {name.id: values.named(frame, name.id) for name in ast.walk(node) if isinstance(name, ast.Name)}
    if not all(held.values()):
        return False
    others = [one for (one,) in held.values() if not is_plain(one, np) and type(one) is not np.ndarray]
    others = [one for one in others if one is not np]
    return not others or (len(others) == 1 and type_module(type(others[0])).startswith("pandas."))


def _of_table(node: ast.expr, frame: FrameType, np: Any) -> Any:
    """The column that `df["a"]` and `df.a` show; None where it is none of a table's."""
    key = (
        node.slice.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) else None
    )
    name = node.attr if isinstance(node, ast.Attribute) else key
    if type(name) is not str or not isinstance(node, (ast.Subscript, ast.Attribute)):
        return None
    found = values.read(frame, ast.unparse(node.value))
    adapter = (
        adapter_of(type(found[0])) if found and not _native.exactly(found[0], np.ndarray, dict) else None
    )
    table = adapter.columns(found[0], _COLUMNS) if adapter is not None else None
    own = [one.elements for one in table[0] if one.name == name] if table is not None else []
    return block_of(own[0][0], np) if len(own) == 1 and len(own[0]) == 1 else None


def _made(node: ast.Call, np: Any) -> Any:
    """What `np.array([200, 100], "u1")` makes of numbers that are written there."""
    if not is_of_numpy(node) or node.func.attr not in _MADE:  # type: ignore[attr-defined]
        raise Unread
    if node.func.attr == "arange":  # type: ignore[attr-defined]
        return _counted(node, np)
    kinds = [*node.args[1:], *(one.value for one in node.keywords if one.arg == "dtype")]
    names = [dtype_of(one) for one in kinds]
    if len(names) > 1:
        raise Unread
    return np.array(ast.literal_eval(node.args[0]), *names) if node.args else None


def _counted(node: ast.Call, np: Any) -> Any:
    ends = [ast.literal_eval(one) for one in node.args]
    kinds = [one.value for one in node.keywords if one.arg == "dtype"]
    if len(kinds) != len(node.keywords) or any(type(one) is not int or abs(one) > MOST for one in ends):
        raise Unread
    return np.arange(*ends, dtype=dtype_of(kinds[0]) if kinds else None)


def dtype_of(node: ast.expr) -> Any:
    """The name of a type as it is written: `np.int8`, "i1"."""
    return node.attr if isinstance(node, ast.Attribute) else ast.literal_eval(node)


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
    return leaf(node, frame, np)
