"""Live view of an array's strides: a grid of its elements over their bytes."""

# SPDX-License-Identifier: MIT
import math
from typing import Any

from inspector.magics.widgets.base import View, amount, said

from inspector.facts.layout import Layout
from inspector.facts.memory import Range
from inspector.facts.unknown import Unknown
from inspector.report import Report


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
        "preview": [] if isinstance(fact.preview, Unknown) else [said(text, 12) for text in fact.preview],
    }


def _extent(fact: Layout) -> int:
    """Bytes from the lowest to the highest byte of any element."""
    steps = zip(fact.shape, fact.strides_bytes, strict=False)
    return sum(abs(step) * max(length - 1, 0) for length, step in steps) + fact.itemsize_bytes
