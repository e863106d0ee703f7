"""Declare a magic's options from the terminal's table; answer `-h`, and report parse errors."""

# SPDX-License-Identifier: MIT
import argparse
import re
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import cleandoc
from typing import Any

from inspector.magics import showing
from IPython.core.error import UsageError
from IPython.core.magic import Magics
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from inspector.errors import InspectorError
from inspector.faces.arguments import Option

WIDTH = 78
_COMMENT = re.compile(r"\S {2,}(?=\S)")
"""The end of an example, before what it does."""


def declared(name: str, *options: Option) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that declares a magic's options; `name?` prints them under the examples."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        function = helped(function)
        for option in reversed(options):
            function = argument(*option.flags, **option.settings)(function)
        decorated: Callable[..., Any] = magic_arguments(name)(function)
        return decorated

    return decorate


def parser_of(magics: Magics, name: str) -> argparse.ArgumentParser:
    """The parser of the magic `name`."""
    parser: argparse.ArgumentParser = vars(type(magics))[name].parser
    return parser


def read(magics: Magics, name: str, line: str) -> argparse.Namespace:
    """The options of the magic `name` on its line."""
    with refusing(f"%{name}", line):
        options: argparse.Namespace = parse_argstring(vars(type(magics))[name], line)
    return options


@contextmanager
def refusing(magic: str, typed: str) -> Iterator[None]:
    """Raise parse errors of the block as InspectorError `bad-option`; `magic` as typed: `%inspect`."""
    try:
        yield
    except (UsageError, ValueError, SyntaxError) as error:
        raise InspectorError(
            f"{error}.", slug="bad-option", why=f"typed: {typed.strip()}", do=f"{magic}? lists the options"
        ) from None


def helped(function: Callable[..., Any]) -> Callable[..., Any]:
    """The magic, which answers `-h` and `--help`."""
    text = help_text(function.__name__, function.__doc__ or "")

    @wraps(function)
    def magic(self: Any, line: str, *cell: str) -> Any:
        asked = line.strip()
        if asked == "--help" or (asked == "-h" and "h" not in self.shell.user_ns):
            return showing.say(text)
        return function(self, line, *cell)

    return magic


def help_text(name: str, doc: str) -> str:
    """The docstring up to its last example, then where the options are listed."""
    lines = [line for line in cleandoc(doc).splitlines() if line != "::"]
    last = max((n for n, line in enumerate(lines) if line.startswith("  ")), default=len(lines) - 1)
    shown = re.sub(r"\n{3,}", "\n\n", "\n".join(lines[: last + 1]))
    rows = [row for line in shown.splitlines() for row in _wrapped(line)]
    return "\n".join([*rows, "", f"%{name}? lists all options."])


def _wrapped(line: str) -> Iterator[str]:
    """The line; what an example does is continued under itself."""
    found = [match.end() for match in _COMMENT.finditer(line) if match.end() < WIDTH - 20]
    yield from textwrap.wrap(
        line,
        WIDTH,
        subsequent_indent=" " * (found[-1] if found else 0),
        drop_whitespace=True,
        replace_whitespace=False,
        break_on_hyphens=False,
    ) or [""]
