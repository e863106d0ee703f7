"""Numbers that a constructor was given and that its array has no room for: `torch.Tensor([16777217])`,
`jax.numpy.array(x)` of 64 bits, `(ctypes.c_int * 2)(1 << 31, 5)`. No call of these shows both sides."""

# SPDX-License-Identifier: MIT
import ast
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any, Final, NamedTuple

from inspector import _native
from inspector.adapters.base import type_module
from inspector.adapters.columns import MOST_COMPARED, are_decimals, cast
from inspector.facts.conversion import CONSTRUCTED, Loss
from inspector.facts.statements import Written
from inspector.sessions.statements import values
from inspector.sessions.statements.converted import loss_of
from inspector.sessions.statements.memory import NUMBERS, Unread, array_of
from inspector.sessions.statements.syntax import integer, tree

_OF_TORCH: Final = ("", "BFloat16", "Byte", "Char", "Double", "Float", "Half", "Int", "Long", "Short")
_NAMES: Final = frozenset(("array", "asarray", "Series", *(f"{kind}Tensor" for kind in _OF_TORCH)))
"""Functions whose first argument has the elements of what they make."""


class Given(NamedTuple):
    """Numbers, flat: every `step`th of so many."""

    some: Any
    step: int
    size: int


def given(written: Written, frame: FrameType) -> Given | None:
    """The numbers that a statement's one call was given; None where it is no constructor, and where they are
    not all known. Arguments of other functions are not read."""
    node: Any = getattr(tree(written.text), "value", None) if "(" in written.text else None
    np: Any = sys.modules.get("numpy")
    if np is None or not isinstance(node, ast.Call) or not node.args:
        return None
    is_named, cast_one = _name(node.func) in _NAMES, _cast_by_jax(node.func, frame)
    if not is_named and not cast_one and not _is_ctypes(node.func, frame):
        return None
    try:
        read = [_read(one, frame, np) for one in (cast_one or (node.args[:1] if is_named else node.args))]
    except (Unread, OverflowError, TypeError, ValueError):
        return None
    found = read[0] if len(read) == 1 else np.concatenate(read)
    step = max(found.size // MOST_COMPARED, 1)
    return Given(found[::step].copy(), step, found.size) if found.dtype.kind in (*NUMBERS, "O") else None


def _cast_by_jax(function: ast.expr, frame: FrameType) -> tuple[ast.expr, ...]:
    """`x` of `x.astype` where it is an array of JAX: no call of its shows both sides."""
    if not isinstance(function, ast.Attribute) or function.attr != "astype":
        return ()
    found = values.read(frame, ast.unparse(function.value))
    return (function.value,) if found and type_module(type(found[0])).startswith("jax") else ()


def _is_ctypes(function: ast.expr, frame: FrameType) -> bool:
    """Whether it is a type of ctypes by its name, or a product as `c_int * 2` is."""
    if isinstance(function, ast.BinOp):
        return True
    found = values.read(frame, ast.unparse(function))
    return bool(found) and type_module(type(found[0])) == "_ctypes"


def lost(written: Written, source: Given, made: Any) -> Iterator[Loss]:
    """At most one: what the elements of the array that the call made have lost of those numbers."""
    try:
        found = array_of(made, sys.modules["numpy"]).ravel()
    except Unread:
        return
    if found.size != source.size or found.dtype.kind not in NUMBERS:
        return
    change = cast(source.some, found[:: source.step])
    if change is not None:
        before, after, first, count = change.told
        told = (before, after, first * source.step, count)
        function = "astype" if ".astype(" in written.text else CONSTRUCTED
        yield loss_of(written, function, change._replace(told=told), source.size)


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
    if _native.exactly(held, list, tuple):
        if len(held) > MOST_COMPARED:
            raise Unread
        return np.concatenate([_numbers(one, np) for one in held]) if held else np.empty(0)
    if _native.exactly(held, int, float):
        return np.array([held])
    if are_decimals((held,)):
        return np.array([held], object)
    return array_of(held, np).ravel()
