"""The line after `%inspect`: split into options and expressions; expressions are evaluated."""

# SPDX-License-Identifier: MIT
import argparse
import re
import sys
import tokenize
from collections.abc import Iterator, Mapping
from inspect import CO_OPTIMIZED
from io import StringIO
from types import CodeType, FrameType
from typing import Any

from inspector.errors import InspectorError
from inspector.objects.quiet_compile import quietly

_LONG = re.compile(r"--[a-z][a-z-]*")
_WORD = re.compile(r"""(?:"[^"]*"|'[^']*')(?=\s|$)|\S+""")
_QUOTED = re.compile(r"""^(["'])(.*)\1$""")
MANY = 1000
"""How many words an option with nargs "+" may take."""
_CLIP = 200
_MOST_WORDS = 30
"""A text with more words is not split into several expressions."""
_FRAME_AND_US = 3
"""The refcount of a frame's snapshot of locals that only the frame holds: its own, ours, getrefcount's."""


def split(line: str, parser: argparse.ArgumentParser) -> tuple[list[str], list[str]]:
    """(option words, expressions) of a line such as `--all a + b` or `x y -v`.

    Options come before or after the expressions, so a minus inside an expression stays a minus. The value
    of an option may be quoted.
    """
    line = _without_comment(line).strip().removesuffix(";")
    words, takes = _WORD.findall(line), _takes(parser)
    start = _options_from(words, 0, takes)
    stop = next(i for i in range(start, len(words) + 1) if _options_from(words, i, takes) == len(words))
    options = [_QUOTED.sub(r"\2", word) for word in (*words[:start], *words[stop:])]
    return options, list(_apart(_between(line, words, start, stop)))


def _without_comment(line: str) -> str:
    """The line up to a `#` that is in no string."""
    try:
        for token in tokenize.generate_tokens(StringIO(line.strip()).readline if "#" in line else str):
            if token.type == tokenize.COMMENT:
                return line.strip()[: token.start[1]]
    except (tokenize.TokenError, SyntaxError):  # said when the expression is compiled
        pass
    return line


def _takes(parser: argparse.ArgumentParser) -> dict[str, int]:
    """Option -> how many words it takes."""
    return {
        flag: 0 if action.nargs == 0 else MANY if action.nargs == "+" else 1
        for action in parser._actions
        for flag in action.option_strings
    }


def _options_from(words: list[str], start: int, takes: Mapping[str, int]) -> int:
    """The index after the run of options that begins at `start`."""
    while start < len(words) and _is_option(words[start], takes):
        count = takes.get(words[start], 0)
        start += 1
        while count and start < len(words) and not _is_option(words[start], takes):
            start, count = start + 1, count - 1
    return min(start, len(words))


def _is_option(word: str, takes: Mapping[str, int]) -> bool:
    return word in takes or _LONG.fullmatch(word) is not None


def _between(line: str, words: list[str], start: int, stop: int) -> str:
    """The text of `words[start:stop]`, with the user's spaces."""
    position, begin, end = 0, len(line), 0
    for number, word in enumerate(words[:stop]):
        position = line.index(word, position)
        if number == start:
            begin = position
        position += len(word)
        end = position
    return line[begin:end] if start < stop else ""


def _apart(text: str) -> Iterator[str]:
    """The expressions of `x y`; a text that is one expression, or invalid, stays whole."""
    found = _cut(text.split(" ")) if text and not _compiles(text) else None
    yield from [text] * bool(text) if found is None else found


def _cut(words: list[str]) -> list[str] | None:
    """The words as expressions, the first one as short as it goes; None if some belong to none."""
    for cut in range(1, len(words) if len(words) <= _MOST_WORDS else 0):
        first, rest = " ".join(words[:cut]).strip(), " ".join(words[cut:]).strip()
        if first and rest and _compiles(first):
            others = [rest] if _compiles(rest) else _cut(rest.split(" "))
            return None if others is None else [first, *others]
    return None


def _compiles(text: str) -> bool:
    try:
        with quietly():
            compile(text, "<%inspect>", "eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def evaluate(text: str, names: dict[str, Any], frame: FrameType | None = None) -> Any:
    """The value of `text` in the user's namespace; in the locals of `frame` where that is a user's function.

    Raises only InspectorError and KeyboardInterrupt. Returns the only reference that evaluating made: no
    name, history or exception keeps the object.
    """
    code = _compiled(text)
    local: Mapping[str, Any] = names
    if frame is not None and frame.f_globals is names and frame.f_code.co_flags & CO_OPTIMIZED:
        local = frame.f_locals
    try:
        return eval(code, names, local)
    except NameError as error:
        raise _refused(text, error) from None
    except (Exception, SystemExit) as error:
        raise InspectorError(
            f"{_clipped(text, 60)} raised {said(error)}",
            slug="expression-raised",
            why="the expression is evaluated first, to get the object to inspect",
            do="evaluate it in a cell of its own to see the traceback",
        ) from None
    finally:
        if local is not names and type(local) is dict and sys.getrefcount(local) <= _FRAME_AND_US:
            local.clear()  # until 3.12 a frame keeps this snapshot, which refers to each local


def _compiled(text: str) -> CodeType:
    try:
        with quietly():
            return compile(text, "<%inspect>", "eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InspectorError(
            f"{_clipped(text, 60)} is not an expression.",
            slug="not-an-expression",
            why=said(error),
            do="give names or one expression: %inspect x, %inspect x y, %inspect rows[0]",
        ) from None


def _refused(text: str, error: NameError) -> InspectorError:
    alone = error.name and error.name == text
    used = f"{_clipped(text, 60)} uses a name that is not bound: {said(error)}"
    return InspectorError(
        f"there is no name {error.name}." if alone else used,
        slug="unknown-name",
        why="it is not bound in this notebook, nor a builtin",
        do="%inspect alone lists the names there are",
    )


def said(error: BaseException) -> str:
    """Type and text of an exception, clipped; its text may be user code that fails."""
    try:
        text = str(error)
    except BaseException:
        text = "(its __str__ failed)"
    return _clipped(f"{type(error).__name__}: {text}".removesuffix(": "), _CLIP)


def _clipped(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
