"""Calls of NumPy that select elements by contract: what they give is a copy of them, in whatever order."""

# SPDX-License-Identifier: MIT
import ast
from typing import Final, NamedTuple

from inspector.facts.statements import Bound
from inspector.verdicts.statements.right_side import right_side

_HOW: Final = {
    "roll": "moved", "take": "selected", "compress": "selected", "extract": "selected", "delete": "selected",
    "repeat": "repeated", "tile": "repeated", "sort": "sorted", "partition": "sorted",
}  # fmt: skip
_SECOND: Final = ("compress", "extract")
"""Functions whose second argument is selected from; as methods they select from their object."""


class Selection(NamedTuple):
    """From what elements were selected, as it is written, and how."""

    of: str
    how: str


def selection(text: str, value: Bound) -> Selection | None:
    """What a statement selected if its right side is such a call of NumPy, and bound memory of its own."""
    if value.relation != "apart" or value.library != "numpy" or value.items:
        return None
    call = right_side(text)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    name, owner = call.func.attr, call.func.value
    is_function = isinstance(owner, ast.Name) and owner.id in ("np", "numpy")
    at = 1 if name in _SECOND else 0
    source = owner if not is_function else call.args[at] if len(call.args) > at else None
    of = ast.get_source_segment(text, source) if isinstance(source, (ast.Name, ast.Attribute)) else None
    return Selection(of, _HOW[name]) if name in _HOW and of else None
