"""Items that a statement assigns: `x[i:j] = y`, `x[0] = 2.7`, `x[mask] = y[k]`, compared after it ran.

Both sides are read where their elements lie. Only names, constants, slices and arithmetic of Python's own
numbers are evaluated, so no code of the user's runs.
"""

# SPDX-License-Identifier: MIT
import ast
import operator
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, Final, NamedTuple

from inspector.adapters.base import Elements
from inspector.adapters.columns import Cast, cast
from inspector.adapters.formats import letter
from inspector.facts.conversion import Loss
from inspector.facts.statements import Written
from inspector.sessions.statements import values
from inspector.sessions.statements.converted import loss_of
from inspector.sessions.statements.elements import elements_of
from inspector.sessions.statements.syntax import tree

MOST_BYTES: Final = 1 << 24
"""Of more elements nothing is said."""
_NUMBERS: Final = "biuf"
_TEXTS: Final = "US"
_KINDS: Final = f"{_NUMBERS}{_TEXTS}V"
"""Kinds of elements that are read, V for those with fields."""
_ARITHMETIC: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip
_PLAIN: Final = (int, float, bool, str, bytes)


class Assigned(NamedTuple):
    """What an assignment put where."""

    owner: str
    """The name of the object that has the items."""
    source: str
    """What was assigned, as it is written."""
    bytes: int
    """Of items that are the elements of an array, in the same type or another one; else 0."""
    loss: Loss | None


class _Unread(Exception):
    """An expression that is not evaluated."""


class _Block:
    """A block for NumPy."""

    def __init__(self, block: Elements) -> None:
        place = (block.address, block.readonly)
        self.__array_interface__ = {
            "version": 3, "data": place, "shape": block.shape, "strides": block.strides_bytes,
            "typestr": letter(block.typestr) and _typestr(block),
        }  # fmt: skip


def assigned(written: Written, frame: FrameType) -> Assigned | None:
    """What a statement that just ran assigned to items of an array; None where that cannot be told."""
    np: Any = sys.modules.get("numpy")
    node = _of_items(written.text) if written.kind == "assign" and np is not None else None
    if node is None:
        return None
    target: Any = node.targets[0]
    try:
        items = _array(target.value, frame, np)[_index(target.slice, frame, np)]
        source = _value(node.value, frame, np)
        return _compared(written, ast.unparse(target.value), node.value, np.asarray(items), source, np)
    except (_Unread, IndexError, TypeError, ValueError, OverflowError, ZeroDivisionError):
        return None


def _of_items(text: str) -> ast.Assign | None:
    """A statement that assigns to items of one object."""
    node = tree(text)
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return None
    return node if isinstance(node.targets[0], ast.Subscript) else None


def _typestr(block: Elements) -> str:
    kind = letter(block.typestr)
    of = "b" if kind == "?" else "f" if kind in "efdg" else "i" if kind.islower() else "u"
    return f"{'|' if block.itemsize_bytes == 1 else '<'}{of}{block.itemsize_bytes}"


def _array(node: ast.expr, frame: FrameType, np: Any) -> Any:
    """An array of NumPy's or a part of one, or an object of one block of numbers as an array over it."""
    if isinstance(node, ast.Subscript):
        return np.asarray(_array(node.value, frame, np)[_index(node.slice, frame, np)])
    found = values.read(frame, ast.unparse(node)) if isinstance(node, (ast.Name, ast.Attribute)) else ()
    is_array = found and type(found[0]) is np.ndarray and found[0].nbytes <= MOST_BYTES
    if is_array and found[0].dtype.kind in _KINDS:
        return found[0]
    blocks = elements_of(found[0]) if found and type(found[0]) not in (list, tuple, dict) else ()
    numbers = len(blocks) == 1 and blocks[0].numeric and letter(blocks[0].typestr)
    if not numbers or blocks[0].range.bytes > MOST_BYTES or blocks[0].itemsize_bytes > 8:
        raise _Unread
    return np.asarray(_Block(blocks[0]))


def _index(node: ast.expr, frame: FrameType, np: Any) -> Any:
    if isinstance(node, ast.Tuple):
        return tuple(_index(one, frame, np) for one in node.elts)
    if isinstance(node, ast.List):
        return [_number(one, frame) for one in node.elts]
    if isinstance(node, ast.Slice):
        ends = (node.lower, node.upper, node.step)
        return slice(*(None if one is None else _number(one, frame) for one in ends))
    if isinstance(node, ast.Constant) and (node.value in (None, ...) or type(node.value) is str):
        return node.value
    try:
        return _number(node, frame)
    except _Unread:
        return _array(node, frame, np)


def _number(node: ast.expr, frame: FrameType) -> Any:
    """A number or a text of Python's own."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_number(node.operand, frame)
    if isinstance(node, ast.BinOp) and (done := _ARITHMETIC.get(type(node.op))):
        return done(_number(node.left, frame), _number(node.right, frame))
    is_name = isinstance(node, (ast.Name, ast.Attribute))
    found = (node.value,) if isinstance(node, ast.Constant) else ()
    found = values.read(frame, ast.unparse(node)) if is_name else found
    if not found or type(found[0]) not in _PLAIN:
        raise _Unread
    return found[0]


def _value(node: ast.expr, frame: FrameType, np: Any) -> Any:
    """The right side: a number, a list of numbers, an array, or a part of one."""
    if isinstance(node, ast.List):
        return np.array([_number(one, frame) for one in node.elts])
    try:
        return np.asarray(_number(node, frame))
    except _Unread:
        return _array(node, frame, np)


def _compared(
    written: Written, owner: str, node: ast.expr, items: Any, source: Any, np: Any
) -> Assigned | None:
    kinds = {source.dtype.kind, items.dtype.kind}
    if not items.size or not (kinds <= {*_NUMBERS} or kinds in ({"U"}, {"S"})):
        return None
    given = np.broadcast_to(source, items.shape)
    with np.errstate(all="ignore"):
        if not np.array_equal(given.astype(items.dtype), items, equal_nan=items.dtype.kind == "f"):
            return None
    whole = source.ndim > 0 and source.size == items.size
    lost = (_cut if kinds & {*_TEXTS} else cast)(np.ravel(given), np.ravel(items))
    loss = loss_of(written, "item assignment", lost, items.size) if lost is not None else None
    return Assigned(owner, ast.unparse(node), items.nbytes if whole else 0, loss)


def _cut(given: Any, items: Any) -> Cast | None:
    """Of texts that were cut to the length that the array has room for."""
    lost = (given != items).nonzero()[0]
    if not len(lost):
        return None
    before, after = (repr(some[lost[0]].item()) for some in (given, items))
    return Cast("cut", (before, after, int(lost[0]), len(lost)), len(items), 0.0)
