"""Refuse `%inspect` options that would have no effect on what is inspected."""

# SPDX-License-Identifier: MIT
import argparse
from collections.abc import Sequence
from typing import Final

from inspector.errors import InspectorError
from inspector.faces.arguments import COMPARED, LOOK, PREVIEW
from inspector.facts.unknown import Unknown
from inspector.report import Report

_ONE: Final = "one object"
_NAMES: Final = "the table of your names"
_CELL: Final = "a cell"
_SEVERAL: Final = "objects side by side"
_DO: Final = {
    _ONE: "%inspect x {}",
    _NAMES: "%inspect {}",
    _CELL: "%%inspect {} above the cell",
    _SEVERAL: "%inspect x y {}",
}

_ABOUT: Final = {
    **{option.flags[0]: _ONE for option in (*LOOK, *PREVIEW)},
    **dict.fromkeys(("--graph", "--strides", "--layers"), _ONE),
    **{option.flags[0]: _SEVERAL for option in COMPARED},
    "--map": _NAMES,
    "--heap": _NAMES,
    "--memory": _NAMES,
    "--live": _CELL,
}
"""Option -> what it applies to."""
_ON_WORKERS: Final = ("--owners", "--chain", "--retained", "--aliases", "--strides", "--layers")
"""Options that work on a worker."""


def refuse_misplaced(options: argparse.Namespace, expressions: Sequence[str], cell: str | None) -> None:
    """Raise InspectorError misplaced-option where an option of the line would have no effect.

    `options` as typed: defaults of `%config` that have no effect are ignored.
    """
    here = _CELL if cell is not None else (_NAMES, _ONE, _SEVERAL)[min(len(expressions), 2)]
    for flag in [flag for flag in _ABOUT if getattr(options, flag.removeprefix("--"))]:
        value = "LIBRARY" if flag == "--to" else '"f(x)"' if flag == "--after" else ""
        if _ABOUT[flag] != here:
            do = _DO[_ABOUT[flag]].format(f"{flag} {value}".rstrip())
            raise _misplaced(f"{flag} works on {_ABOUT[flag]}, not on {here}", do)
        if flag == "--graph" and (options.strides or options.layers):
            raise _misplaced("--graph and another view cannot be shown at once", "%inspect x --graph")
        if options.on and flag not in _ON_WORKERS:
            raise _misplaced(f"{flag} does not work on a worker", f"omit it, or --on {options.on:.40}")


def refuse_empty_view(options: argparse.Namespace, report: Report) -> None:
    """Raise InspectorError misplaced-option where --strides was asked of an object without elements."""
    if options.strides and isinstance(report.layout, Unknown):
        name, kind = report.name[:40], getattr(report.object, "type_name", "object").rpartition(".")[2]
        raise _misplaced(
            f"--strides shows the elements of one array, and {name} is a {kind}",
            f"%inspect {name} --graph shows what it holds",
        )


def _misplaced(what: str, do: str) -> InspectorError:
    return InspectorError(f"{what}.", slug="misplaced-option", why="it would have no effect", do=do)
