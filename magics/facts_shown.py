"""Draw a fact at the prompt, as in `inspector.owners(x)`, as its view while the extension is loaded."""

# SPDX-License-Identifier: MIT
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from inspector.facts.columns import COLUMNS
from inspector.report import Report

_PLACES = {column: ("inspector.facts." + place.partition(":")[0], place.partition(":")[2])
           for column, place in COLUMNS.items()}  # fmt: skip
"""Column -> module and name of its fact class, which is imported only when one is shown."""


def add(shell: InteractiveShell) -> None:
    """Register a formatter for every fact class of a column."""
    formatter = _formatter(shell)
    for column, place in _PLACES.items():
        if formatter is not None:
            formatter.for_type_by_name(*place, _drawing(column))


def remove(shell: InteractiveShell) -> None:
    """Remove the formatters, those already used too."""
    formatter = _formatter(shell)
    for place in _PLACES.values():
        if formatter is not None:
            formatter.deferred_printers.pop(place, None)
    for kind in list(formatter.type_printers) if formatter is not None else ():
        if (kind.__module__, kind.__name__) in _PLACES.values():
            formatter.type_printers.pop(kind)


def _formatter(shell: InteractiveShell) -> Any:
    return getattr(shell.display_formatter, "mimebundle_formatter", None)


def _drawing(column: str) -> Any:
    def draw(fact: Any, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return Report(column, {column: fact})._repr_mimebundle_()

    return draw
