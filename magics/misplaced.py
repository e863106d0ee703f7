"""Options of `%inspect` that would change nothing where they stand: refused in one sentence."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Final

from inspector.errors import InspectorError
from inspector.faces.arguments import LOOK, PREVIEW

_ONE: Final = "one object"
_NAMES: Final = "the table of your names"
_CELL: Final = "a cell"
_SEVERAL: Final = "two objects side by side"
_DO: Final = {_ONE: "%inspect x {}", _NAMES: "%inspect {}", _CELL: "%%inspect {} above the cell"}

_ABOUT: Final = {
    **{option.flags[0]: _ONE for option in (*LOOK, *PREVIEW)},
    **dict.fromkeys(("--graph", "--strides", "--layers"), _ONE),
    "--map": _NAMES,
    "--live": _CELL,
}
"""Option -> what it asks about."""
_ON_WORKERS: Final = ("--owners", "--chain", "--retained", "--aliases", "--strides", "--layers")
"""What a worker is asked about a key."""


def refuse_misplaced(options: argparse.Namespace, expressions: Sequence[str], cell: str | None) -> None:
    """Raise InspectorError misplaced-option where an option of the line is about something else.

    `options` as typed: what `%config` sets is a wish, and is left out where it cannot be met.
    """
    here = _CELL if cell is not None else (_NAMES, _ONE, _SEVERAL)[min(len(expressions), 2)]
    for flag in _typed(options):
        value = "LIBRARY" if flag == "--to" else '"f(x)"' if flag == "--after" else ""
        if _ABOUT[flag] != here:
            do = _DO[_ABOUT[flag]].format(f"{flag} {value}".rstrip())
            raise _misplaced(f"{flag} is about {_ABOUT[flag]}, not about {here}", do)
        if options.on and flag not in _ON_WORKERS:
            raise _misplaced(f"{flag} is not asked of a worker", f"leave it out, or --on {options.on:.40}")


def _typed(options: argparse.Namespace) -> Iterator[str]:
    return (flag for flag in _ABOUT if getattr(options, flag.removeprefix("--")))


def _misplaced(what: str, do: str) -> InspectorError:
    return InspectorError(f"{what}.", slug="misplaced-option", why="it would change nothing there", do=do)
