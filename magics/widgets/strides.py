"""Live view of an array's strides: a grid of its elements over their bytes."""

# SPDX-License-Identifier: MIT
import math
from typing import Any

from inspector.magics.widgets.base import View, amount, said

from inspector.facts.layout import Layout
from inspector.facts.memory import Range
from inspector.facts.unknown import Unknown
from inspector.report import Report
from inspector.views.lit import DARK, grid_of_base

MOST_OF_BASE = 16, 40
"""Rows and columns of the base that are drawn."""


def open_view(fact: Layout, report: Report) -> View:
    """The view of a layout."""
    return View("strides.js", scene(fact, report), report)


def scene(fact: Layout, report: Report) -> dict[str, Any]:
    """Shape, strides, the first elements as text, and the address of the bytes where known."""
    buffer = report.facts.get("buffer")
    place = getattr(buffer, "range", None)
    return {
        "name": said(report.name, 40),
        "format": said(fact.format, 40),
        "shape": list(fact.shape),
        "strides": [amount(step) for step in fact.strides_bytes],
        "itemsize": fact.itemsize_bytes,
        "elements": amount(math.prod(fact.shape)),
        "words": " · ".join(said(word, 40) for word in fact.words),
        "bytes": place.bytes if isinstance(place, Range) else _extent(fact),
        "start": f"{place.start:#x}" if isinstance(place, Range) else "",
        "base": _base(report),
        "preview": [] if isinstance(fact.preview, Unknown) else [said(text, 12) for text in fact.preview],
    }


def _base(report: Report) -> dict[str, Any] | None:
    """The grid of the named array that it is a view of: which elements it shows."""
    found = grid_of_base(report.facts, *MOST_OF_BASE)
    if found is None or not found.is_named:
        return None
    lit = [[cell != DARK for cell in row] for row in found.cells]
    return {
        "name": said(found.name, 40),
        "shape": list(found.shape),
        "corner": list(found.corner),
        "lit": lit,
    }


def _extent(fact: Layout) -> int:
    """Bytes from the lowest to the highest byte of any element."""
    steps = zip(fact.shape, fact.strides_bytes, strict=False)
    return sum(abs(step) * max(length - 1, 0) for length, step in steps) + fact.itemsize_bytes
