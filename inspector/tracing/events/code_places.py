"""Find the innermost line of the user's code, from a frame or a code object."""

# SPDX-License-Identifier: MIT
from collections.abc import Mapping
from itertools import islice
from types import CodeType, FrameType

from inspector.facts.conversion import Site
from inspector.facts.unknown import Unknown
from inspector.objects.call_site import as_typed, instruction_text, is_users

LONGEST_TEXT = 60
_NOWHERE = Unknown("no Python frame was recorded")
NOWHERE = Site(_NOWHERE, _NOWHERE, _NOWHERE, _NOWHERE, "")


def of_frame(frame: FrameType | None) -> Site:
    """The innermost frame outside installed packages; else the innermost of all."""
    innermost = frame
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    chosen = frame or innermost
    return NOWHERE if chosen is None else of_code(chosen.f_code, chosen.f_lasti, -1)


def of_code(code: CodeType | None, instruction: int, cell: int) -> Site:
    """The line of an instruction; `cell`: number of a notebook cell, or -1."""
    if code is None:
        return NOWHERE
    place = position(code, instruction)
    line = place[0] if place and place[0] is not None else Unknown("the code has no line table")
    text = " ".join(as_typed(instruction_text(code, instruction)).split())
    text = text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"
    number = cell if cell >= 0 else Unknown("not in a notebook")
    return Site(code.co_filename, line, code.co_qualname, number, text)


def position(code: CodeType, instruction: int) -> tuple[int | None, ...] | None:
    """First and last line and column of the expression that an instruction belongs to."""
    return next(islice(code.co_positions(), max(instruction, 0) // 2, None), None)


def site(code: CodeType, instruction: int, cells: Mapping[str, int]) -> Site:
    """The Python line at a bytecode offset; `cells`: file name -> number of the notebook cell."""
    return of_code(code, instruction, cells.get(code.co_filename, -1))
