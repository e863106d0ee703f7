"""What memory there is: a census and a difference, a namespace, its map to scale, the columns of a table."""

# SPDX-License-Identifier: MIT
import pytest

from inspector.facts.heap import Difference, Heap, NameChange, TypeChange, TypeCount
from inspector.facts.materialization import NO_BYTES
from inspector.facts.memory import Range
from inspector.facts.memory_map import MemoryMap
from inspector.facts.namespace import Namespace, Row
from inspector.facts.unknown import Address, Immortal, Unknown
from inspector.report import Report
from inspector.views.grammar import Fold, Line, Span, Table
from inspector.views.memory_map import SCALE_COLUMNS, regions
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


def row(name: str, bytes: int, group: int = 0, shares: str = "", **other: object) -> Row:
    fields = {"type_name": "ndarray f8", "references": 2, "state": "view" if shares else "owned"}
    fields |= {"resident_fraction": 1.0} | other
    return Row(name=name, address=Address(4096), bytes=bytes, group=group, shares=shares, **fields)  # type: ignore[arg-type]


def named(fact: Namespace) -> str:
    return "\n".join(line.rstrip() for line in Report("names", {"namespace": fact}).to_text().splitlines())


def test_a_namespace_has_brackets_around_sharers_and_a_total() -> None:
    rows = (
        row("big", 800_000, group=1),
        row("x", 96, group=1, shares="of big"),
        row("tail", 8000, group=1, shares="of big"),
        row("z", 1_600_000_000, state="reserved-not-resident", resident_fraction=0.0),
        row("n", 28, type_name="int", references=Immortal, state="", resident_fraction=NO_BYTES),
    )
    assert named(Namespace(rows, 1_600_800_028, 3)) == (
        " name  type         bytes  refs  state                   here  shares\n"
        " big   ndarray f8  800 kB     2  owned                  100 %  ┬ x tail\n"
        " x     ndarray f8    96 B     2  view                   100 %  ├ of big\n"
        " tail  ndarray f8  8.0 kB     2  view                   100 %  ┘ of big\n"
        " z     ndarray f8  1.6 GB     2  reserved-not-resident    0 %\n"
        " n     int           28 B     ∞\n"
        " in all   1.6 GB  each byte counted once  … 3 more names (--all)"
    )


def test_many_sharers_are_counted() -> None:
    rows = (row("a", 9, group=1), *(row(name, 1, group=1, shares="of a") for name in "bcdefg"))
    assert "┬ b c d +3" in named(Namespace(rows, 9, 0))


def test_an_empty_namespace_says_so() -> None:
    assert "none" in named(Namespace((), 0, 0))


def span(name: str, start: int, size: int, group: int = 0, shares: str = "") -> Row:
    spans = (Range(Address(start), Address(start + size)),) if size else ()
    return Row(name, "ndarray f8", Address(start), size, 1, "owned", group, shares, 1.0, spans)


def names(*rows: Row) -> Namespace:
    return Namespace(rows, sum(one.spans[0].bytes for one in rows if one.spans), 0)


def test_sharers_stay_together_and_a_hole_parts_regions() -> None:
    found = regions(names(span("far", 1 << 40, 96), span("a", 4096, 800, 1), span("b", 4200, 8, 1, "of a")))
    assert [[one.name for one in region.rows] for region in found] == [["a", "b"], ["far"]]
    assert (found[0].start, found[0].bytes) == (4096, 800)


def test_bars_are_to_scale() -> None:
    fact = names(
        span("a", 4096, 4000, 1), span("half", 6096, 2000, 1, "of a"), span("dot", 4096, 1, 1, "of a")
    )
    text = Report("map", {"map": MemoryMap(fact)}).to_text().splitlines()
    drawn = {line.split()[0]: line for line in text[1:4]}
    assert drawn["a"].count("█") == SCALE_COLUMNS
    assert drawn["half"].count("▒") == SCALE_COLUMNS // 2
    assert drawn["dot"].count("▒") == 1
    assert all(len(line) <= 80 for line in text)


def test_names_without_bytes_are_counted() -> None:
    text = Report("map", {"map": MemoryMap(names(span("a", 4096, 8), span("n", 8192, 0)))}).to_text()
    assert "1 without bytes of their own to map" in text


def test_an_empty_namespace_has_an_empty_map() -> None:
    assert "in all" in Report("map", {"map": MemoryMap(names())}).to_text()
