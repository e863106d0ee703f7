"""The heap's views: what a reader sees of a census and of a difference."""

# SPDX-License-Identifier: MIT
import pytest

from inspector.facts.heap import Difference, Heap, NameChange, TypeChange, TypeCount
from inspector.facts.unknown import Unknown
from inspector.views.grammar import Fold, Line, Span, Table
from inspector.views.view import view

pytestmark = pytest.mark.quick


def joined(spans: tuple[Span, ...]) -> str:
    return "".join(span.text for span in spans)


def cells(table: Table) -> list[list[str]]:
    return [[joined(cell) for cell in row] for row in table.rows]


def test_a_census_is_a_table_folded_at_twenty() -> None:
    rows = tuple(TypeCount(f"T{n}", 10, 8000 - 100 * n, Unknown("not asked")) for n in range(30))
    (fold,) = view(Heap(300, 1_000_000, rows, 1_000_000))
    assert isinstance(fold, Fold) and fold.shown == 20
    assert joined(fold.summary.spans) == "300 objects · 1.0 MB"
    (table,) = fold.blocks
    assert isinstance(table, Table) and table.columns == ("type", "objects", "bytes", "")
    assert cells(table)[0] == ["T0", "10", "8.0 kB", "█" * 12]
    assert len(table.rows) == 30


def test_retained_bytes_have_a_column_once_asked_for() -> None:
    rows = (TypeCount("A", 1, 100, 5000), TypeCount("B", 1, 10, Unknown("not asked")))
    (fold,) = view(Heap(2, 110, rows, 1))
    table = fold.blocks[0]  # type: ignore[union-attr]
    assert isinstance(table, Table) and table.columns[-1] == "retained"
    assert [row[-1] for row in cells(table)] == ["5.0 kB", ""]


def test_a_difference_shows_signs() -> None:
    changes = (TypeChange("list", 3, 2000), TypeChange("dict", -1, -64))
    names = (NameChange("x", "born", "list", 2, 96), NameChange("y", "kept", "list", -1, 0))
    heap, held = view(Difference(2, 1936, Unknown("no /proc"), changes, names, 24_000_000))
    assert isinstance(heap, Fold) and joined(heap.summary.spans) == "+2 objects · +1.9 kB  two walks of 12 ms"
    assert cells(heap.blocks[0]) == [["list", "+3", "+2.0 kB"], ["dict", "-1", "-64 B"]]  # type: ignore[arg-type]
    assert isinstance(held, Fold)
    assert [row[0] for row in cells(held.blocks[0])] == ["+", " "]  # type: ignore[arg-type]


def test_nothing_changed_is_said_in_a_word() -> None:
    (line,) = view(Difference(0, 0, 4096, (), (), 24_000_000))
    assert isinstance(line, Line) and joined(line.spans) == "unchanged  two walks of 12 ms"
    assert joined(line.right) == "+4.1 kB resident"
