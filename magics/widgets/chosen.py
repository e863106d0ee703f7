"""Which live view stands for a report: as the options say, where a notebook is there to draw it."""

from __future__ import annotations

import argparse
import importlib
from typing import TYPE_CHECKING, Final

from IPython.core.interactiveshell import InteractiveShell

from inspector.facts.unknown import Unknown
from inspector.report import Report

if TYPE_CHECKING:
    from inspector.magics.widgets.base import View

COLUMNS: Final = {"map": "map"}
"""Option -> the column that its view draws; the view is the function `open_view` of the file so named."""
FILES: Final = {"map": "memory_map"}


def view(shell: InteractiveShell, report: Report, options: argparse.Namespace) -> View | None:
    """The live view of a report, or None where its page says all: no option, no kernel, no such facts."""
    if not hasattr(shell, "kernel"):
        return None
    asked = [name for name in COLUMNS if getattr(options, name, False)]
    fact = report.facts.get(COLUMNS[asked[0]]) if asked else None
    if fact is None or isinstance(fact, Unknown):
        return None
    made: View = importlib.import_module(f"{__package__}.{FILES[asked[0]]}").open_view(fact, report)
    return made
