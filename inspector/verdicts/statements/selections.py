"""Calls of NumPy and OpenCV that select elements by contract: copies of them, in whatever order."""

# SPDX-License-Identifier: MIT
import ast
from typing import Final, NamedTuple

from inspector.facts.statements import Bound
from inspector.verdicts.statements.right_side import right_side

_HOW: Final = {
    "roll": "moved", "take": "selected", "compress": "selected", "extract": "selected", "delete": "selected",
    "repeat": "repeated", "tile": "repeated", "sort": "sorted", "partition": "sorted",
}  # fmt: skip
_OF_OPENCV: Final = {
    "flip": "moved", "rotate": "moved", "transpose": "moved", "repeat": "repeated",
    "extractChannel": "selected",
}  # fmt: skip
_SECOND: Final = ("compress", "extract")
"""Functions whose second argument is selected from; as methods they select from their object."""


class Selection(NamedTuple):
    """From what elements were selected, as it is written, and how."""

    of: str
    how: str


def selection(text: str, value: Bound) -> Selection | None:
    """What a statement selected if its right side is such a call of NumPy, and bound memory of its own."""
    if value.relation != "apart" or value.library not in ("numpy", "cv2") or value.items:
        return None
    call = right_side(text)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    name, owner = call.func.attr, call.func.value
    is_function = isinstance(owner, ast.Name) and owner.id in ("np", "numpy", "cv2")
    how = _OF_OPENCV if value.library == "cv2" else _HOW
    at = 1 if name in _SECOND else 0
    source = owner if not is_function else call.args[at] if len(call.args) > at else None
    of = ast.get_source_segment(text, source) if isinstance(source, (ast.Name, ast.Attribute)) else None
    return Selection(of, how[name]) if name in how and of else None
