"""Digits that a text of numbers has no room for: `df.to_csv(path, float_format="%.2f")`, `np.savetxt`.

The format is applied to the numbers before the statement; what it gives must stand in the text afterwards.
"""

# SPDX-License-Identifier: MIT
import ast
import re
import stat
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import PosixPath
from types import FrameType
from typing import Any, Final, NamedTuple

from inspector import _native
from inspector.adapters.columns import MOST_COMPARED, Cast, step_of
from inspector.facts.conversion import Loss
from inspector.facts.statements import Written
from inspector.sessions.statements import values
from inspector.sessions.statements.converted import loss_of
from inspector.sessions.statements.elements import elements_of
from inspector.sessions.statements.lost import leaves
from inspector.sessions.statements.memory import Unread, block_of
from inspector.sessions.statements.syntax import tree

_FORMATTED: Final = {"savetxt": "fmt", "to_csv": "float_format", "to_string": "float_format",
    "to_html": "float_format", "to_latex": "float_format", "tofile": "format", "write_csv": "float_precision",
    "to_json": "double_precision",
}  # fmt: skip
"""Function -> the parameter that says how many digits it writes."""
_DIGITS_OF_JSON: Final = 10
_ONE: Final = re.compile(r"%[-+ 0]*\d*(\.\d+)?[defgEG]")
_MOST_BLOCKS: Final = 16
_HEAD: Final = 1 << 16
"""Bytes of a file that are searched."""


class Printed(NamedTuple):
    """Numbers that a call is about to write."""

    name: str
    file: ast.expr | None
    """None where the text may be what the call returns."""
    found: Cast
    of: int


def printing(written: Written, frame: FrameType) -> Printed | None:
    """What a statement is about to write with fewer digits than its numbers have."""
    call = _call(written.text)
    np: Any = sys.modules.get("numpy")
    if call is None or np is None:
        return None
    name: str = call.func.attr  # type: ignore[attr-defined]
    write = _format(call, name)
    node = call.args[1] if name == "savetxt" else call.func.value  # type: ignore[attr-defined]
    for some in _floats(node, frame, np) if write is not None else ():
        found = _lost(some, write, np)
        if found is not None:
            path = call.args[0] if call.args else None
            return Printed(name, path, found, some.size)
    return None


def lost(written: Written, had: Printed, frame: FrameType, made: list[Any]) -> Iterator[Loss]:
    """The loss, where the text has the number as it was foreseen."""
    texts = [one for one in made if type(one) is str]
    head = texts[0][:_HEAD] if texts else head_of(had.file, frame)
    if had.found.told[1] in head:
        yield loss_of(written, had.name, had.found, had.of)


@lru_cache(1024)
def _call(text: str) -> ast.Call | None:
    node: Any = getattr(tree(text), "value", None)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    is_known = node.func.attr in _FORMATTED and (node.func.attr != "savetxt" or len(node.args) >= 2)
    return node if is_known else None


def _format(call: ast.Call, name: str) -> Callable[[float], str] | None:
    """How a number is written; None where all its digits are, or where that is not known."""
    given = next((one.value for one in call.keywords if one.arg == _FORMATTED[name]), None)
    value: Any = getattr(given, "value", None)
    if given is None and name == "to_json":
        value = _DIGITS_OF_JSON
    if name == "to_json" and type(value) is int:
        return lambda x: repr(round(x, value))
    if name == "write_csv" and type(value) is int:
        return lambda x: f"{x:.{value}f}"
    if type(value) is not str or not _ONE.fullmatch(value):
        return None
    return lambda x: str(value % x).strip()


def _floats(node: ast.expr, frame: FrameType, np: Any) -> Iterator[Any]:
    """The arrays of floats that an object has."""
    found = values.read(frame, ast.unparse(node)) if isinstance(node, (ast.Name, ast.Attribute)) else ()
    if not found:
        some = leaves.shown(ast.unparse(node), frame)
        if type(some) is np.ndarray and some.dtype.kind == "f":
            yield some
        return
    for block in elements_of(found[0])[:_MOST_BLOCKS]:
        try:
            some = block_of(block, np)
        except Unread:
            continue
        if some.dtype.kind == "f":
            yield some


def _lost(given: Any, write: Callable[[float], str] | None, np: Any) -> Cast | None:
    some = given.ravel()[:: step_of(given.size)][:MOST_COMPARED]
    some = some[np.isfinite(some)].astype("d")
    texts = [] if write is None else [write(one) for one in some.tolist()]
    back = np.array([float(one) for one in texts]).astype(given.dtype).astype("d")
    if not texts or not len(changed := np.flatnonzero(back != some)):
        return None
    first = int(changed[0])
    errors = np.abs(back[changed] - some[changed]) / np.abs(some[changed])
    is_cut = np.array_equal(np.trunc(some), back)
    told = (repr(float(some[first])), texts[first], first * step_of(given.size), len(changed))
    return Cast("fraction" if is_cut else "precision", told, len(some), float(errors.max()))


def head_of(node: ast.expr | None, frame: FrameType) -> str:
    """The beginning of a file that a constant or a name has the path of."""
    path: Any = node.value if isinstance(node, ast.Constant) else None
    if isinstance(node, (ast.Name, ast.Attribute)) and (found := values.read(frame, ast.unparse(node))):
        path = found[0]
    if not _native.exactly(path, str, PosixPath):
        return ""
    try:
        if not stat.S_ISREG(PosixPath(path).stat().st_mode):
            return ""
        with PosixPath(path).open("rb") as file:
            text = file.read(_HEAD + 1).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
    return text if len(text) <= _HEAD else text[:_HEAD].rpartition("\n")[0]
