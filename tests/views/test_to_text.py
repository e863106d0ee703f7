"""Terminal text: label column, evidence, notes at the right edge, folds, widths, escapes."""

# SPDX-License-Identifier: MIT
import dataclasses
import importlib
import io
import pkgutil

import pytest
from drawings import CARD
from rich.console import Console
from supposed import one

import inspector.views
from inspector.views.amounts import size
from inspector.views.grammar import Fold, Line, Picture, Span, Table, text
from inspector.views.plain import cells, plain
from inspector.views.rows import Drawing
from inspector.views.to_text import plain_text, rich_text
from inspector.views.view import blocks, view
from inspector.views.wrap import wrapped

pytestmark = pytest.mark.quick


def facts_with_views() -> list[type]:
    for module in pkgutil.iter_modules(inspector.views.__path__):
        importlib.import_module(f"inspector.views.{module.name}")
    return [kind for kind in blocks.registry if dataclasses.is_dataclass(kind)]


AT_80 = """\
 x        ndarray float64 (3, 4)                            view · Fortran order
 refs     2      cell 5: x · rows[0]                                 all 2 named
 bytes    96 B   inside big (800 kB), at +160 B                           [heap]
 layout   strides (8, 24)     →  24 B a step, ↓ 8 B
            ┌────┬────┐
            │  0 │  3 │   order in memory
            └────┴────┘
 held by  8 owners
   holder         key     references
   dict number 0  ['k0']           0
   dict number 1  ['k1']       1,000
   dict number 2  ['k2']       2,000
   a caption
   … 5 more (--all)
 evil     \\x1b[31m\\x1b]0;owned\\x07 \\u202e<b onclick=x>&amp; \\udc80 \\x00 日本 end
 warn     large-base: 96 bytes keep 800 kB alive               x.copy() frees it
"""

AT_40 = """\
 x        ndarray float64 (3, 4)
                    view · Fortran order
 refs     2      cell 5: x · rows[0]
                             all 2 named
 bytes    96 B   inside big (800 kB), at
          +160 B                  [heap]
 layout   strides (8, 24)     →  24 B a
          step, ↓ 8 B
           ┌────┬────┐
           │  0 │  3 │   order in memory
           └────┴────┘
 held by  8 owners
   holder         key     references
   dict number 0  ['k0']           0
   dict number 1  ['k1']       1,000
   dict number 2  ['k2']       2,000
   a caption
   … 5 more (--all)
 evil     \\x1b[31m\\x1b]0;owned\\x07
          \\u202e<b onclick=x>&amp;
          \\udc80 \\x00 日本 end
 warn     large-base: 96 bytes keep 800
          kB alive     x.copy() frees it
"""


@pytest.mark.parametrize(("width", "drawn"), [(80, AT_80), (40, AT_40)])
def test_a_card_is_drawn_so(width: int, drawn: str) -> None:
    assert plain_text(CARD, Drawing(width=width)) == drawn


@pytest.mark.parametrize("width", [20, 27, 40, 61, 80, 120, 200])
def test_no_line_is_wider_than_asked(width: int) -> None:
    options = Drawing(width=width, everything=True, explain=True, verbose=True)
    lines = plain_text(CARD, options).splitlines()
    assert [line for line in lines if cells(line) > width] == []


def test_all_shows_what_a_fold_cuts_and_verbose_the_rare_lines() -> None:
    drawn = plain_text(CARD, Drawing(everything=True, verbose=True))
    assert "dict number 7" in drawn
    assert "more (--all)" not in drawn
    assert "0x7f0000001000" in drawn


def test_explain_adds_a_sentence_and_a_link() -> None:
    drawn = plain_text(CARD, Drawing(explain=True))
    assert "How many references there are, and who holds them. (docs/glossary.md#reference)" in " ".join(
        drawn.split()
    )
    assert "How many" not in plain_text(CARD, Drawing())


def test_nothing_non_printable_passes() -> None:
    for encoding in ("utf-8", "ascii", "latin-1"):
        drawn = plain_text(CARD, Drawing(), encoding)
        assert all(line.isprintable() for line in drawn.splitlines())
        assert drawn.encode(encoding).decode(encoding) == drawn


def test_an_ascii_terminal_gets_boxes_of_ascii() -> None:
    drawn = plain_text(CARD, Drawing(), "ascii")
    assert "+----+----+" in drawn
    assert "->  24 B a step" in drawn
    assert "... 5 more (--all)" in drawn


def test_rich_and_plain_draw_the_same_text() -> None:
    out = io.StringIO()
    console = Console(file=out, width=80, force_terminal=True, color_system=None, legacy_windows=False)
    for line in rich_text(CARD, Drawing()):
        console.print(line)
    uncoloured = out.getvalue().replace("\x1b[1m", "").replace("\x1b[2m", "").replace("\x1b[1;2m", "")
    assert "".join(uncoloured.split("\x1b[0m")) == plain_text(CARD, Drawing())


def test_a_picture_drops_its_legend_before_it_is_said_in_words() -> None:
    boxes = Picture(
        (text("┌" + "─" * 20 + "┐"), (Span("│" + " " * 20 + "│"), Span("  a legend", "dim"))), "a box"
    )
    assert "a legend" in plain_text([boxes], Drawing(width=40))
    assert plain_text([boxes], Drawing(width=30)).splitlines() == [
        " " * 8 + "┌" + "─" * 20 + "┐",
        " " * 8 + "│" + " " * 20 + "│",
    ]
    assert plain_text([boxes], Drawing(width=21)) == " a box\n"


def test_a_fold_counts_lines_and_table_rows() -> None:
    fold = Fold(
        Line("all", text("5")),
        (Line("a", text("1")), Table(("",), ((text("2"),), (text("3"),)) * 2)),
        shown=2,
    )
    assert plain_text([fold], Drawing()).splitlines()[1:] == ["   a        1", "   2", "   … 3 more (--all)"]


def test_wrapping_keeps_styles_and_every_word() -> None:
    spans = [
        Span("  label    ", "label"),
        Span("one two three ", "fact"),
        Span("four" * 9, "warn"),
        Span(" end", "dim"),
    ]
    rows = list(wrapped(spans, 24, 11))
    words = "".join(span.text for row in rows for span in row).split()
    assert "".join(words) == "labelonetwothree" + "four" * 9 + "end"
    styles = {span.style for row in rows for span in row if "four" in span.text}
    assert styles == {"warn"}


def test_plain_leaves_printable_text_alone() -> None:
    assert plain("é 日本 ─ ok") == "é 日本 ─ ok"
    assert cells("日本") == 4
    assert cells("e\u0301") == 1


def test_a_long_label_that_leaves_no_room_has_a_row_of_its_own() -> None:
    line = Line("numpy.arange(12).reshape(3, 4)", text("ndarray"), text("view · Fortran order"))
    assert plain_text([line], Drawing(width=80)).splitlines() == [
        " numpy.arange(12).reshape(3, 4)  ndarray                    view · Fortran order"
    ]
    assert plain_text([line], Drawing(width=50)).splitlines() == [
        " numpy.arange(12).reshape(3, 4)",
        "          ndarray             view · Fortran order",
    ]


def test_a_fold_that_shows_nothing_is_one_line() -> None:
    fold = Fold(Line("library", text("2")), (Table(("",), ((text("a"),), (text("b"),))),), shown=0)
    assert plain_text([fold], Drawing(width=30)).splitlines() == [" library  2" + " " * 14 + "--all"]
    assert len(plain_text([fold], Drawing(everything=True)).splitlines()) == 3


def test_a_verbose_line_is_hidden_with_its_fold() -> None:
    fold = Fold(Line("header", text("2"), verbose=True), (Line("+0", text("1")),))
    assert plain_text([fold], Drawing()) == ""
    assert "+0" in plain_text([fold], Drawing(verbose=True))


def test_in_a_narrow_table_the_last_column_gives_way_and_native_names_keep_their_ends() -> None:
    row = (text("gcd"), (Span("libmath.so math_gcd_of_two_numbers+0x0", "native"),), text("doc " * 12))
    drawn = plain_text([Table(("", "", ""), (row,))], Drawing(width=50)).rstrip()
    assert len(drawn) <= 50
    assert drawn.startswith(" gcd  libm")
    assert "+0x0  doc doc" in drawn
    assert drawn.endswith("…")


def test_all_lets_the_last_cell_go_on_below_instead_of_cutting_it() -> None:
    table = Table(("", ""), ((text("rows[0]"), text("item of list (2 items), global `rows` of app.py")),))
    cut = plain_text([table], Drawing(width=40))
    assert cut == " rows[0]  item of list (2 items), globa…\n"
    whole = plain_text([table], Drawing(width=40, everything=True))
    assert whole == " rows[0]  item of list (2 items), global\n          `rows` of app.py\n"


def test_a_caption_has_its_sentences_in_rows() -> None:
    drawn = plain_text([Table(("",), ((text("a"),),), caption="one\ntwo")], Drawing())
    assert drawn == " a\n one\n two\n"


def test_bytes_have_at_most_three_digits() -> None:
    shown = {999: "999 B", 1000: "1.0 kB", 9_949: "9.9 kB", 9_950: "10 kB"}
    shown |= {999_499: "999 kB", 999_500: "1.0 MB"}
    assert {count: size(count) for count in shown} == shown
    assert size(-1_500_000) == "-1.5 MB"


@pytest.mark.parametrize("fact", facts_with_views(), ids=lambda fact: fact.__name__)
def test_every_fact_is_drawn_in_80_cells(fact: type) -> None:
    for everything in (False, True):
        lines = plain_text(view(one(fact)), Drawing(everything=everything)).splitlines()
        assert lines and max(map(cells, lines)) <= 80


def test_the_yielding_column_is_as_wide_as_the_terminal_allows() -> None:
    row = ((Span("x" * 60),), (Span("copied"),), (Span("a reason of some words"),))
    table = Table(("", "", ""), (row,), yielding=(0, 20))
    drawn = {width: plain_text([table], Drawing(width=width)).strip() for width in (120, 80, 40)}
    assert drawn[120].startswith("x" * 60) and drawn[120].endswith("words")
    assert drawn[80].endswith("words") and len(drawn[80]) <= 80 and "…" in drawn[80]
    assert "…  copied" in drawn[40] and len(drawn[40]) <= 40
