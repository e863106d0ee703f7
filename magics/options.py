"""Declare a magic's options from the terminal's table, and report parse errors."""

# SPDX-License-Identifier: MIT
import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from inspector.errors import InspectorError
from inspector.faces.arguments import Option


def declared(name: str, *options: Option) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that declares a magic's options; `name?` prints them under the examples."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
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
