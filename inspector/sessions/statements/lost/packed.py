"""Floats that `struct.pack` rounds: packed again and read back, from the arguments as they are written."""

# SPDX-License-Identifier: MIT
import ast
import re
import struct
from collections.abc import Iterator
from types import FrameType
from typing import Any, Final

from inspector import _native
from inspector.facts.conversion import Loss
from inspector.facts.statements import Written
from inspector.sessions.statements import values
from inspector.sessions.statements.converted import site
from inspector.sessions.statements.syntax import tree

MOST: Final = 1 << 14
_FLOATS: Final = re.compile(r"[@=<>!]?[\dxefd]*[ef][\dxefd]*")
"""A format of floats alone, at least one of which is narrower than Python's."""
_GIVEN: Final = {"pack": 0, "pack_into": 2}
"""Arguments between the format and the values."""


def rounded(written: Written, frame: FrameType) -> Iterator[Loss]:
    """One for each call in a statement whose arguments are constants, names and `*names`."""
    if "pack" not in written.text:
        return
    whole = tree(written.text)
    for node in ast.walk(whole) if whole is not None else ():
        if isinstance(node, ast.Call) and (name := _called(node, frame)):
            yield from _of_call(written, frame, node, name)


def _called(node: ast.Call, frame: FrameType) -> str:
    """ "pack" or "pack_into" of the module itself; "" for anything else."""
    given = node.func
    if not (isinstance(given, ast.Attribute) and given.attr in _GIVEN and isinstance(given.value, ast.Name)):
        return ""
    found = values.named(frame, given.value.id)
    return given.attr if found and found[0] is struct else ""


def _of_call(written: Written, frame: FrameType, node: ast.Call, name: str) -> Iterator[Loss]:
    skipped = 1 + _GIVEN[name]
    form = _read(node.args[0], frame) if node.args else None
    numbers = [one for part in node.args[skipped:] for one in _numbers(part, frame)]
    if type(form) is not str or not _FLOATS.fullmatch(form) or not 0 < len(numbers) <= MOST:
        return
    if any(not _native.exactly(one, float, int) for one in numbers):
        return
    try:
        kept = struct.unpack(form, struct.pack(form, *numbers))
    except (struct.error, OverflowError):  # the user's call raises the same
        return
    lost = [at for at, (was, now) in enumerate(zip(numbers, kept, strict=True)) if was != now and was == was]
    if lost:
        first = lost[0]
        error = max(abs(kept[at] - numbers[at]) / abs(numbers[at]) for at in lost)
        count = len(numbers)
        yield Loss(
            "precision", f"struct.{name}", repr(numbers[first]), repr(kept[first]), first, len(lost), count,
            count, 1, "certain", site(written), error,
        )  # fmt: skip


def _numbers(node: ast.expr, frame: FrameType) -> list[Any]:
    """The arguments that one is written for; [None] where they are not known."""
    if isinstance(node, ast.Starred):
        found = _read(node.value, frame)
        return list(found) if _native.exactly(found, list, tuple) else [None]
    return [_read(node, frame)]


def _read(node: ast.expr, frame: FrameType) -> Any:
    """A constant, or the value of a name; None for any other expression."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _read(node.operand, frame)
        return -inner if _native.exactly(inner, int, float) else None
    if isinstance(node, ast.Constant):
        return node.value
    found = values.read(frame, ast.unparse(node)) if isinstance(node, (ast.Name, ast.Attribute)) else ()
    return found[0] if found else None
