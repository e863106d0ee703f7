"""Live view of a namespace's memory: bars to scale, and which names share bytes with the chosen one."""

# SPDX-License-Identifier: MIT
from typing import Any, Final

from inspector.magics.widgets.base import View, amount, fitting, said

from inspector.facts.memory_map import MemoryMap
from inspector.facts.namespace import Row
from inspector.report import Report
from inspector.views.memory_map import Region, regions

MOST_BARS: Final = 2_000
"""Bars that are sent to the page; the rest is counted."""


def open_view(fact: MemoryMap, report: Report) -> View:
    """The view of a map."""
    return View(
        "memory_map.js", fitting(lambda most: scene(fact, most), MOST_BARS, report.everything), report
    )


def scene(fact: MemoryMap, most: int = MOST_BARS) -> dict[str, Any]:
    """Bars by number, and regions that list the numbers of their bars."""
    bars: list[dict[str, Any]] = []
    drawn: list[dict[str, Any]] = []
    on_map = 0
    for region in regions(fact.names):
        on_map += len(region.rows)
        rows = region.rows[: max(most - len(bars), 0)]
        if rows:
            numbers = range(len(bars), len(bars) + len(rows))
            drawn.append({"start": f"{region.start:#x}", "bytes": region.bytes, "bars": list(numbers)})
            bars += [_bar(row, region) for row in rows]
    left_out = fact.names.left_out + on_map - len(bars)
    return {"bars": bars, "regions": drawn, "total": amount(fact.names.total_bytes), "left_out": left_out}


def _bar(row: Row, region: Region) -> dict[str, Any]:
    first = row.spans[0]
    more = f" and {row.spans_left_out:,} blocks more" if row.spans_left_out else ""
    return {
        "name": said(row.name, 40),
        "type": said(row.type_name, 60),
        "bytes": amount(row.bytes),
        "group": row.group,
        "owns": not row.shares,
        "shares": said(row.shares, 60),
        "state": said(row.state, 40),
        "spans": [(span.start - region.start, span.bytes) for span in row.spans],
        "at": f"{first.start:#x}, at +{first.start - region.start:,} of its region{more}",
    }
