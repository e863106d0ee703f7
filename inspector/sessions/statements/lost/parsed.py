"""Digits of a text that have no room in what was read: `np.loadtxt`, `pd.read_csv` of large integers beside
an empty field. The beginning of the text is read again; each number must be the element that was made of it.
"""

# SPDX-License-Identifier: MIT
import ast
import csv
import re
import sys
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from types import FrameType
from typing import Any, Final

from inspector import _native
from inspector.adapters import columns
from inspector.facts.conversion import Loss
from inspector.facts.statements import Written
from inspector.sessions.statements import values
from inspector.sessions.statements.converted import loss_of
from inspector.sessions.statements.lost.printed import head_of
from inspector.sessions.statements.syntax import tree

_READERS: Final = ("loadtxt", "genfromtxt", "fromstring", "read_csv")
_SPLIT: Final = re.compile(r"[\s,;]+")
_LINES: Final = 2000


def parsed(written: Written, new: list[Any], frame: FrameType) -> Iterator[Loss]:
    """At most one, of what a statement read from a text."""
    node = _call(written.text) if any(name in written.text for name in _READERS) else None
    if node is None or len(new) != 1:
        return
    name: str = node.func.attr  # type: ignore[attr-defined]
    lines = _lines(node.args[0], frame)
    for tokens, made in _of_table(lines, new[0]) if name == "read_csv" else _of_array(lines, new[0]):
        found = _lost(tokens, made)
        if found is not None:
            yield loss_of(written, name, found, len(made))
            return


@lru_cache(1024)
def _call(text: str) -> ast.Call | None:
    node: Any = getattr(tree(text), "value", None)
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and bool(node.args)
    return node if is_call and node.func.attr in _READERS else None


def _lines(node: ast.expr, frame: FrameType) -> list[str]:
    """The first lines of a text, of a list of them, or of a file."""
    if isinstance(node, ast.List):
        return [one.value for one in node.elts if isinstance(one, ast.Constant) and type(one.value) is str]
    found = values.read(frame, ast.unparse(node)) if isinstance(node, (ast.Name, ast.Attribute)) else ()
    if found and _native.exactly(found[0], list, tuple):
        return [one for one in found[0][:_LINES] if type(one) is str]
    text = head_of(node, frame)
    if not text and isinstance(node, ast.Constant) and type(node.value) is str:
        return [node.value]
    return text.splitlines()[:_LINES]


def _of_array(lines: list[str], made: Any) -> Iterator[tuple[list[str], Any]]:
    np: Any = sys.modules.get("numpy")
    if np is not None and type(made) is np.ndarray and made.dtype.kind == "f" and made.itemsize <= 8:
        tokens = [one for line in lines for one in _SPLIT.split(line.partition("#")[0].strip()) if one]
        yield tokens, made.ravel()


def _of_table(lines: list[str], made: Any) -> Iterator[tuple[list[str], Any]]:
    """Columns of floats of a frame of pandas, whose first line has their names."""
    rows = list(csv.reader(lines))
    for at, name in enumerate(rows[0] if rows else ()):
        held = columns.single(made, name)
        some = columns.floats(held[0]) if held else None
        if some is not None:
            yield [row[at] if at < len(row) else "" for row in rows[1:]], some


def _lost(tokens: list[str], made: Any) -> columns.Cast | None:
    """None unless each number that is read again is the element that stands there."""
    compared = min(len(tokens), len(made), _LINES)
    some = made[:compared]
    told: list[tuple[int, str]] = []
    for at, (token, one) in enumerate(zip(tokens, some.tolist(), strict=False)):
        if not token and one != one:
            continue
        number = _number(token)
        if number is None or not (some[at] == some.dtype.type(float(number)) or one == float(number)):
            return None
        if _digits(number) > _KEPT and Decimal(str(some[at])) != number:
            told.append((at, token))
    if not told:
        return None
    first, token = told[0]
    error = max(abs(float(some[at]) - float(one)) / abs(float(one)) for at, one in told)
    return columns.Cast("precision", (token, repr(some[first].item()), first, len(told)), compared, error)


_KEPT: Final = 6
"""Every number of so many digits is read back from a float of 4 bytes as it was (IEEE 754)."""


def _number(token: str) -> Decimal | None:
    try:
        found = Decimal(token)
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def _digits(number: Decimal) -> int:
    return len(number.as_tuple().digits)
