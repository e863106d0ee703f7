"""Who holds an object: its count, holders in the user's words, the gap; paths, graphs, what is retained."""

# SPDX-License-Identifier: MIT
from dataclasses import replace

import pytest

from inspector.facts.chain import Chain
from inspector.facts.graph import Edge, Graph, Step
from inspector.facts.refs import Owner, Owners, Refs, Retained, Scan
from inspector.facts.unknown import Address, Immortal, ImmortalType, Unknown
from inspector.report import Report
from inspector.views.grammar import Fold, Line, Table
from inspector.views.rows import Drawing
from inspector.views.to_text import plain_text
from inspector.views.view import view

pytestmark = [pytest.mark.core, pytest.mark.quick]
HERE, NONE = Address(0x7F0000001000), Unknown("held by Python, not by native code")
UNASKED = Unknown("memory was not searched")


def owner(kind: str, holder: str, key: str, references: int = 1, certain: bool = True) -> Owner:
    return Owner(kind, holder, key, references, certain, HERE, NONE, NONE)


LOCAL = owner("local", "f, app.py:3", "x")
ITEM = owner("item", "list (2 items), global `rows` of app", "[0]")


def glanced(references: int | ImmortalType, unnamed: int | Unknown, *owners: Owner) -> Refs:
    found = Owners(references, owners, unnamed, UNASKED, UNASKED, UNASKED, 1_200_000_000, (), 81_000_000)
    return Refs(references, found, Unknown("not asked"))


def searched(
    references: int, native: int, unstored: int, *owners: Owner, notes: tuple[str, ...] = ()
) -> Refs:
    scan = Scan(1_200_000_000, 70_000_000, 11_000_000, 14, 9, 0)
    found = Owners(references, owners, 0, native, unstored, scan, 1_200_000_000, notes)
    return Refs(references, found, 0)


def drawn(fact: object, everything: bool = False) -> str:
    return plain_text(view(fact), Drawing(everything=everything))


def test_all_are_named() -> None:
    lines = drawn(glanced(2, 0, LOCAL, ITEM)).splitlines()
    assert lines[0].startswith(" refs     2      x · rows[0]") and lines[0].endswith("all 2 named")
    assert len(lines) == 1


def test_a_library_is_named_without_its_abi_tag() -> None:
    static = owner("static", "_decimal.cpython-311-x86_64-linux-gnu.so", "default_context_template+0x0")
    block = owner("heap block", "malloc'ed block kept by _x.abi3.so registry", "+0x8")
    text = drawn(searched(2, 2, 0, static, block))
    assert "_decimal.so  default_context_template+0x0" in text and "by _x.so registry+0x8" in text


def test_what_a_search_would_tell_and_cost() -> None:
    text = drawn(glanced(5, 3, LOCAL, ITEM))
    assert "2 of 5 named" in text
    assert "3 references not yet named: --owners scans 1.2 GB in about 81 ms" in text


def test_an_immortal_has_no_count() -> None:
    text = drawn(glanced(Immortal, Unknown("an immortal has no count"), LOCAL))
    assert "immortal" in text and "never freed" in text and "--owners" not in text


def test_the_balance_adds_up() -> None:
    static = owner("static", "libfoo.so", "registry+0x18", certain=False)
    text = drawn(searched(4, 1, 1, LOCAL, ITEM, static, notes=("a note",)))
    assert "refs     4      2 named, 1 in native code, 1 not stored anywhere readable" in text
    assert "certain   x " in text and "local of f, app.py:3" in text
    assert "possible  libfoo.so  registry+0x18" in text and "C static" in text
    assert "gap       1 reference without a holder" in text
    assert "a note" in text and "scanned 1.2 GB in 81 ms; 14 pointers found, 9 stale" in text


def test_nothing_is_left_to_explain() -> None:
    text = drawn(searched(2, 0, 0, LOCAL, ITEM))
    assert "all 2 named" in text and "gap" not in text


def test_many_owners_fold() -> None:
    many = [owner("item", f"list ({n} items), local `rows{n}` of f", "[0]") for n in range(40)]
    short, long = drawn(searched(40, 0, 0, *many)), drawn(searched(40, 0, 0, *many), everything=True)
    assert short.count("certain") == 6 and "34 more (--all)" in short
    assert long.count("certain") == 40


def test_an_owner_of_many_references_says_how_many() -> None:
    assert "rows[0]  ×1,000" in drawn(searched(1000, 0, 0, owner("item", "list, local `rows`", "[0]", 1000)))


def test_a_path_leads_down_to_the_object() -> None:
    owners = (owner("global", "app", "bus"), owner("attribute", "app.Bus", ".x"))
    (fold,) = view(Chain(True, owners, "10 objects"))
    assert isinstance(fold, Fold)
    assert "".join(span.text for span in fold.summary.spans) == "2 steps from app  its global"
    table = fold.blocks[0]
    assert isinstance(table, Table)
    cells = [["".join(span.text for span in cell) for cell in row] for row in table.rows]
    assert cells == [["└ bus", "app.Bus", "global"], ["  └ .x", "the object", "attribute"]]
    assert "? no path from modules" in drawn(Chain(False, (), "no path from modules"))


def test_deep_paths_stop_being_indented() -> None:
    owners = tuple(owner("item", "list (1 item)", "[0]") for _ in range(100))
    (fold,) = view(Chain(True, owners, ""))
    table = fold.blocks[0]  # type: ignore[union-attr]
    assert isinstance(table, Table) and len(table.rows) == 100
    assert len(table.rows[99][0][0].text) == len(table.rows[10][0][0].text)


EDGE = Edge("x", "global", "notebook", "", Address(16), 2, True, True)


def graphed(up: Step, down: Step) -> str:
    return Report("x", {"graph": Graph("dict", Address(64), ("rows[0]", "x"), up, down)}).to_text()


def test_both_sides_of_a_graph_are_tables_under_the_path() -> None:
    text = graphed(Step((EDGE, replace(EDGE, certain=False)), 3, "5 references"), Step((), 0, "nothing"))
    assert "rows[0] → x" in text
    assert "global ×2" in text and "possible  global" in text
    assert "3 more were not inspected" in text and "nothing" in text


def test_evil_and_long_labels_of_a_graph_are_cut_and_escaped() -> None:
    text = graphed(Step((replace(EDGE, label="\u202e" + "n" * 1_000_000),), 0, ""), Step((), 0, ""))
    assert "\\u202e" in text and len(text) < 1_000


def test_what_is_retained_is_one_line_and_others_are_counted_by_type() -> None:
    (line,) = view(Retained(1, 56, (("list", 1, 56),)))
    assert isinstance(line, Line)
    assert [span.text for span in line.spans] == ["56 B", "  the object itself"]
    (fold,) = view(Retained(3, 2_000_000, (("bytearray", 2, 1_999_944), ("list", 1, 56))))
    assert isinstance(fold, Fold)
    assert [span.text for span in fold.summary.spans] == ["2.0 MB", "  the object and 2 more"]
    assert len(fold.blocks[0].rows) == 2  # type: ignore[union-attr]
