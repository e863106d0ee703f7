"""The drawing of a memory map: to scale, regions parted by holes, sharers in one region."""

# SPDX-License-Identifier: MIT
import pytest

from inspector.facts.memory import Range
from inspector.facts.memory_map import MemoryMap
from inspector.facts.namespace import Namespace, Row
from inspector.facts.unknown import Address
from inspector.report import Report
from inspector.views.memory_map import SCALE_COLUMNS, regions

pytestmark = pytest.mark.quick


def row(name: str, start: int, size: int, group: int = 0, shares: str = "") -> Row:
    spans = (Range(Address(start), Address(start + size)),) if size else ()
    return Row(name, "ndarray f8", Address(start), size, 1, "owned", group, shares, 1.0, spans)


def names(*rows: Row) -> Namespace:
    return Namespace(rows, sum(one.spans[0].bytes for one in rows if one.spans), 0)


def test_sharers_stay_together_and_a_hole_parts_regions() -> None:
    found = regions(names(row("far", 1 << 40, 96), row("a", 4096, 800, 1), row("b", 4200, 8, 1, "of a")))
    assert [[one.name for one in region.rows] for region in found] == [["a", "b"], ["far"]]
    assert (found[0].start, found[0].bytes) == (4096, 800)


def test_bars_are_to_scale() -> None:
    fact = names(row("a", 4096, 4000, 1), row("half", 6096, 2000, 1, "of a"), row("dot", 4096, 1, 1, "of a"))
    text = Report("map", {"map": MemoryMap(fact)}).to_text().splitlines()
    drawn = {line.split()[0]: line for line in text[1:4]}
    assert drawn["a"].count("█") == SCALE_COLUMNS
    assert drawn["half"].count("▒") == SCALE_COLUMNS // 2
    assert drawn["dot"].count("▒") == 1
    assert all(len(line) <= 80 for line in text)


def test_names_without_bytes_are_counted() -> None:
    text = Report("map", {"map": MemoryMap(names(row("a", 4096, 8), row("n", 8192, 0)))}).to_text()
    assert "1 without bytes of their own to map" in text


def test_an_empty_namespace_has_an_empty_map() -> None:
    assert "in all" in Report("map", {"map": MemoryMap(names())}).to_text()
