"""The source text of a call's argument: the default name of a report."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import linecache
from itertools import islice
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from inspector.objects.quiet_compile import quietly

if TYPE_CHECKING:
    import ast

LONGEST_CHARACTERS = 60
"""Longer expressions are cut."""
_MAGICS = {"run_line_magic": "%", "run_cell_magic": "%%"}

_OTHERS = (
    "-packages/",
    "<frozen ",
    "<__array_function__",
    "<eval_with_key>",  # what torch.compile and torch.fx write
    "/torchinductor_",
    "/lib/python3",
    "/reticulate/python/",
)
_INSTALLED_IN = __file__.rpartition("inspector/objects/")[0]
_OWN = (f"{_INSTALLED_IN}inspector/", f"{_INSTALLED_IN}magics/")
"""The tool's own code: in a checkout where it is installed in place."""


def is_users(file: str) -> bool:
    """Whether code of a file is the user's own: not of an installed package, nor of the standard library."""
    return not (file.startswith(_OWN) or any(other in file for other in _OTHERS))


def argument_text(frame: FrameType, function: str) -> str:
    """The first argument in the call of `function` that `frame` is in; "" without its source.

    Reads the source by linecache (it has notebook cells too); runs nothing.
    """
    import ast

    call = _call(instruction_text(frame.f_code, frame.f_lasti, frame.f_globals))
    if call is None or _name(call.func) != function:
        return ""
    by_name = [keyword.value for keyword in call.keywords if keyword.arg == "x"]
    first = next(iter([*call.args, *by_name]), None)
    return "" if first is None or isinstance(first, ast.Starred) else _shown(first)


def called_in(frame: FrameType) -> str:
    """The name of the function or method that a frame calls now: "contiguous"; "" if its text is no call."""
    call = _call(instruction_text(frame.f_code, frame.f_lasti, frame.f_globals))
    return "" if call is None else _name(call.func)


def argument_texts(frame: FrameType | None, function: str, count: int) -> tuple[str, ...]:
    """The `count` arguments in the call of `function` that `frame` is in; "a", "b" ... without its source."""
    import ast

    letters = tuple(chr(ord("a") + n % 26) + str(n // 26 or "") for n in range(count))
    try:
        call = _call(instruction_text(frame.f_code, frame.f_lasti, frame.f_globals)) if frame else None
    except Exception:  # without the source there is still a comparison
        return letters
    if call is None or _name(call.func) != function or any(isinstance(one, ast.Starred) for one in call.args):
        return letters
    texts = tuple(_shown(one) for one in call.args)
    return texts if len(texts) == count and all(texts) else letters


def names_in(frame: FrameType | None) -> dict[int, str]:
    """id of an object -> its first public name among the globals of `frame`."""
    found: dict[int, str] = {}
    for name, value in list(frame.f_globals.items()) if frame is not None else ():
        if not name.startswith("_"):
            found.setdefault(id(value), name)
    return found


def _shown(argument: ast.expr) -> str:
    import ast

    text = " ".join(ast.unparse(argument).split())
    return text if len(text) <= LONGEST_CHARACTERS else text[: LONGEST_CHARACTERS - 1] + "…"


def instruction_text(code: CodeType, instruction: int, names: dict[str, Any] | None = None) -> str:
    """The source text of an instruction of `code`, by its offset in bytes; "" if not available.

    PEP 657 positions: columns are UTF-8 bytes. `names`: the module's globals, for sources in archives.
    """
    positions = next(islice(code.co_positions(), instruction // 2, None), None)
    if positions is None or None in positions:
        return ""
    first, last, start, stop = positions
    assert first is not None and last is not None
    lines = linecache.getlines(code.co_filename, names)[first - 1 : last]
    if len(lines) != last - first + 1:
        return ""
    rows = [line.encode() for line in lines]
    rows[-1] = rows[-1][:stop]
    rows[0] = rows[0][start:]
    return b"".join(rows).decode(errors="replace")


def as_typed(text: str) -> str:
    """The text of a call as typed: IPython turns `%name line` and `%%name line` into a call.

    For a cell magic only its own line, without the body.
    """
    import ast

    call = _call(text) if text.startswith("get_ipython().run_") else None
    sign = _MAGICS.get(_name(call.func)) if call else None
    values = [word.value for word in call.args if isinstance(word, ast.Constant)] if call and sign else []
    words = [value for value in values if isinstance(value, str)]
    return f"{sign}{words[0]} {words[1]}".rstrip() if len(words) >= 2 else text


def _call(source: str) -> ast.Call | None:
    import ast

    try:
        with quietly():
            node = ast.parse(f"({source})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return node if isinstance(node, ast.Call) else None


def _name(function: ast.expr) -> str:
    import ast

    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
