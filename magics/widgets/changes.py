"""Live view of what a cell changed: names and types, to sort and filter."""

# SPDX-License-Identifier: MIT
from typing import Any, Final

from inspector.magics.widgets.base import View, amount, fitting, said

from inspector.facts.heap import Difference, NameChange
from inspector.facts.unknown import Unknown
from inspector.report import Report

MOST_ROWS: Final = 1_000
"""Names, and types, that are sent to the page; those that changed least are only counted."""


def open_view(fact: Difference, report: Report) -> View:
    """The view of a difference."""
    return View("changes.js", fitting(lambda most: scene(fact, most), MOST_ROWS, report.everything), report)


def scene(fact: Difference, most: int = MOST_ROWS) -> dict[str, Any]:
    """Rows of names and of types with their changes."""
    names = [
        {
            "name": said(row.name, 60),
            "change": row.change,
            "type": said(row.type_name, 40),
            "count": _moved(row, row.references),
            "bytes": _moved(row, row.bytes),
        }
        for row in fact.names[:most]
    ]
    types = [
        {"name": said(row.type_name, 60), "count": amount(row.objects), "bytes": amount(row.bytes)}
        for row in fact.types[:most]
    ]
    return {
        "objects": amount(fact.objects),
        "bytes": amount(fact.bytes),
        "walk": fact.walk_ns,
        "names": names,
        "types": types,
        "left_out": len(fact.names) + len(fact.types) - len(names) - len(types),
    }


def _moved(row: NameChange, number: int | Unknown) -> float | int | str:
    """The number as a change: negative for a deleted name."""
    return amount(-number if row.change == "gone" and not isinstance(number, Unknown) else number)
