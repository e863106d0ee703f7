"""Choose a report's live view from the options, where a notebook can draw it."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from inspector.magics.widgets import layers
from IPython.core.interactiveshell import InteractiveShell

from inspector.facts.answers import Answers
from inspector.facts.buffer import Buffer
from inspector.facts.unknown import Unknown
from inspector.report import Report

if TYPE_CHECKING:
    from inspector.magics.widgets.base import View

VIEWS: Final = {
    "map": ("map", "memory_map"),
    "graph": ("graph", "graph"),
    "strides": ("layout", "strides"),
    "layers": ("materialization", "layers"),
}
"""Option -> the column that its view draws, and the file that has it."""
LIVE: Final = {"difference": "changes", "trace": "timeline", "breaks": "breaks"}
"""Column -> the file of the view that `--live` opens."""


def view(shell: InteractiveShell, report: Report, options: argparse.Namespace, **asked: Any) -> View | None:
    """The live view of a report; None without such an option, without a kernel, or without such facts.

    `asked`: passed to the view's `open_view`, such as a finished trace for later questions.
    """
    if not hasattr(shell, "kernel"):
        return None
    for column, file in _asked(report, options):
        fact = report.facts.get(column)
        if fact is not None and not isinstance(fact, Unknown):
            made: View = importlib.import_module(f"{__package__}.{file}").open_view(fact, report, **asked)
            return made
    return None


def alone(report: Report, options: argparse.Namespace) -> Report:
    """The report with only its answers and the columns that the options ask for; whole without such options.

    For a terminal, which has no live view.
    """
    columns = [column for column, _ in _asked(report, options) if column in report.facts]
    if not columns or set(columns) == set(report.facts):
        return report
    place = ("buffer",) if "layout" in columns else ()  # the grid of what it is a view of
    shown = ("answers", *place, *columns)
    facts = {column: report.facts[column] for column in shown if column in report.facts}
    if columns == ["materialization"] and isinstance(facts.get("answers"), Answers):
        facts["answers"] = layers.copying(facts["answers"])  # what would copy, before the layers
    if isinstance(facts.get("buffer"), Buffer):
        facts["buffer"] = replace(facts["buffer"], facts=())  # not the library's own names of everything
    return Report(report.name, facts).drawn(
        width=options.width, everything=True, explain=options.explain, verbose=options.verbose
    )


def _asked(report: Report, options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """(column, file) of the views that the options ask for."""
    yield from (VIEWS[name] for name in VIEWS if getattr(options, name, False))
    if getattr(options, "live", False):
        yield from ((column, LIVE[column]) for column in report.facts if column in LIVE)
