"""Check that a screen can open: textual is installed, and the streams are a terminal."""

# SPDX-License-Identifier: MIT
import importlib
import sys

from inspector.errors import InspectorError


def check(instead: str) -> None:
    """Raise InspectorError `textual-missing` or `not-a-terminal`; `instead` names a command that works."""
    try:
        importlib.import_module("textual")
    except ImportError:
        raise missing() from None
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise InspectorError(
            "a screen needs a terminal, and this is a pipe or a file.", slug="not-a-terminal", do=instead
        )


def missing() -> InspectorError:
    """The error where textual is not installed."""
    return InspectorError(
        "the screens are drawn by textual, which is not installed.",
        slug="textual-missing",
        do="pip install 'native-inspector[live]'",
    )
