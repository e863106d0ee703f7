"""The call at a Python line: the function, the file, and the source text of the call."""

# SPDX-License-Identifier: MIT
import ast
import linecache
from itertools import islice
from types import CodeType

from inspector.facts.unknown import Unknown
from inspector.objects.quiet_compile import quietly

LONGEST = 40
"""Characters of source text shown if no call can be identified."""


def of(code: CodeType | None, instruction: int) -> tuple[str | Unknown, str | Unknown, str | Unknown]:
    """(function, file, what it called) of the instruction at this offset of `code`."""
    if code is None:
        gone = Unknown("no Python frame")
        return gone, gone, gone
    return code.co_qualname, code.co_filename, _called(code, instruction)


def _called(code: CodeType, instruction: int) -> str | Unknown:
    place = next(islice(code.co_positions(), instruction // 2, None), None)
    text = _text(code.co_filename, place) if place else ""
    if not text:
        return Unknown("the source is not at hand")
    try:
        with quietly():
            node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return text[:LONGEST]
    return ast.unparse(node.func if isinstance(node, ast.Call) else node)[:LONGEST]


def _text(file: str, place: tuple[int | None, int | None, int | None, int | None]) -> str:
    """Source between two positions; columns count UTF-8 bytes."""
    first, last, left, right = place
    if first is None or last is None or left is None or right is None:
        return ""
    rows = [linecache.getline(file, number).rstrip("\n").encode() for number in range(first, last + 1)]
    if not rows or not rows[0]:
        return ""
    rows[-1] = rows[-1][:right]
    rows[0] = rows[0][left:]
    return b"\n".join(rows).decode(errors="replace")
