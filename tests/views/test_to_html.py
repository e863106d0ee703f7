"""HTML: real tables and details, well-formed, escaped, themed without script, readable without styles."""

# SPDX-License-Identifier: MIT
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from drawings import CARD
from github import sanitised

import inspector
from inspector.views.grammar import Fold, Line, Prose, Span, Table
from inspector.views.rows import Drawing
from inspector.views.to_html import MOST_CHARACTERS, to_html, to_page

pytestmark = pytest.mark.quick


class Reader(HTMLParser):
    """Collects tags, attributes and text; complains where tags do not nest."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("br", "meta"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


@pytest.mark.parametrize("options", [Drawing(), Drawing(everything=True, explain=True, verbose=True)])
def test_it_is_well_formed(options: Drawing) -> None:
    html = to_html(CARD, options)
    read(html)
    ElementTree.fromstring(html.replace("<br>", "<br/>").replace("<details open>", "<details>"))


def test_values_are_text_and_never_markup() -> None:
    reader = read(to_html(CARD, Drawing()))
    assert "<b onclick=x>&amp; \\udc80 \\x00 日本 end" in reader.text
    assert "\\x1b[31m\\x1b]0;owned\\x07 \\u202e" in reader.text
    assert {"b", "script", "style"}.isdisjoint(tag for tag, _ in reader.tags)
    assert all(name in ("style", "class", "scope", "align", "valign", "colspan", "role", "aria-label", "open")
               for _, attributes in reader.tags for name in attributes)  # fmt: skip


def test_it_has_no_address_of_another_site() -> None:
    assert re.search(r"https?:|url\(|@import", to_page(CARD, Drawing(), "x")) is None


def test_rows_are_rows_of_tables_and_folds_are_details() -> None:
    reader = read(to_html(CARD, Drawing()))
    tags = [tag for tag, _ in reader.tags]
    assert tags.count("details") == 1
    assert tags.count("table") == 3
    assert "dict number 7" in reader.text, "a fold hides nothing for good"
    assert "<summary>8 owners</summary>" in to_html(CARD, Drawing())
    assert [a["aria-label"] for tag, a in reader.tags if tag == "pre"] == [CARD[5].alt]  # type: ignore[union-attr]


def test_unstyled_it_still_reads() -> None:
    bare = re.sub(r' style="[^"]*"', "", to_html(CARD, Drawing()))
    assert (
        '<tr><th scope="row" align="left" valign="top">bytes</th>'
        "<td>96 B\u00a0 inside big (800 kB), at +160 B</td>"
        '<td align="right">[heap]</td></tr>' in (re.sub(r"</?span>", "", bare))
    )


def test_what_github_leaves_still_reads() -> None:
    """GitHub strips styles, classes and scripts; tables, folds, the picture and its sentence stay."""
    html = to_html(CARD, Drawing())
    before, after = read(html), read(sanitised(html))
    assert after.text == before.text
    kept = [tag for tag, _ in after.tags if tag != "tbody"]
    assert kept == [tag for tag, _ in before.tags if tag != "tbody"], "a parser adds tbody"
    assert {name for _, attributes in after.tags for name in attributes} <= {
        "scope", "align", "valign", "colspan", "role", "aria-label", "open"
    }  # fmt: skip
    assert "\u00a0 inside big" in after.text, "the gap before the evidence"
    numbers = Table(("n",), (((Span("1"),),),), right_aligned=(0,))
    assert '<td align="right">' in sanitised(to_html([numbers], Drawing()))


def test_colours_follow_the_theme() -> None:
    html = to_html(CARD, Drawing())
    assert "color:var(--jp-content-font-color1, var(--vscode-editor-foreground, inherit))" in html
    assert "color-scheme" not in html, "an output does not know the page: its colours would be the system's"
    assert 'name="color-scheme" content="light dark"' in to_page(CARD, Drawing(), "alone")


def test_a_page_has_its_title_escaped() -> None:
    page = to_page(CARD, Drawing(), "<x>&\x1b")
    assert "<title>&lt;x&gt;&amp;\\x1b</title>" in page
    read(page.removeprefix("<!DOCTYPE html>\n"))


def test_a_long_note_follows_its_value_and_a_short_one_has_a_column() -> None:
    def line(note: str) -> str:
        return to_html([Line("warn", (Span("short"),), right=(Span(note),))], Drawing())

    assert read(line("n" * 28)).tags[-1][1].get("align") == "right"
    assert "<td" not in line("n" * 29).partition("short")[2], "it is in the value's own cell"
    assert sanitised(line("n" * 29)).partition("short")[2].startswith("&nbsp; ")
    inner = Fold(Line("warn", (Span("short"),), right=(Span("n" * 29),)), (Line("in", (Span("it"),)),))
    assert "n" * 29 in to_html([inner], Drawing()).partition("</summary>")[0]


def test_a_long_card_has_the_first_rows_of_its_folds_and_counts_the_others() -> None:
    rows = tuple(Line("", (Span(f"row {at:,} of many, with words"),)) for at in range(5_000))
    blocks = [Fold(Line("rows", (Span("5,000"),)), (*rows, Fold(Line("in", ()), rows)))]
    html, whole = to_html(blocks, Drawing()), to_html(blocks, Drawing(everything=True))
    assert len(html) < MOST_CHARACTERS + 1_000 < len(whole)
    assert "row 11 of" in read(html).text and re.search(r"… 4,[89]\d\d more \(--all\)", html)
    assert whole.count("row 4,999 of") == 2 and to_page(blocks, Drawing(), "x").count("row 4,999 of") == 2


def test_a_short_label_of_two_words_stays_on_one_row() -> None:
    html = to_html([Line("32 B", ()), Line("bytes", ())], Drawing())
    assert re.search(r"white-space:pre;[^>]*>32 B<", html)
    assert re.search(r"white-space:pre-wrap;[^>]*>bytes<", html)


def test_sentences_go_over_the_whole_width_and_code_in_them_is_code() -> None:
    sentence = Prose((Span("A view of "), Span("a", "code"), Span(": all of it.")))
    html = to_html((Line("x", (Span("b", "code"),)), sentence), Drawing())
    assert read(html).text == "xbA view of a: all of it."
    first = read(to_html((sentence,), Drawing()))  # nothing stands above: it needs no table
    assert first.text == "A view of a: all of it." and "td" not in [tag for tag, _ in first.tags]
    assert [tag for tag, _ in read(html).tags].count("code") == 1
    assert [attributes.get("colspan") for tag, attributes in read(html).tags if tag == "td"] == ["2", "3"]


def test_a_card_has_at_most_40_kb_of_html() -> None:
    fields = np.zeros(9, dtype=[(f"field{n}", "f8") for n in range(300)])
    for x in (int, str, np.ndarray, np, fields, {str(n): [n] for n in range(300)}):
        page = inspector.inspect(x, name="x").to_html()
        assert len(page.encode()) <= 40_000, (x, len(page))
    assert "more (--all)" in inspector.inspect(np.ndarray, name="x").to_html()


def test_each_colour_is_that_of_vs_code_where_it_has_one() -> None:
    html = inspector.inspect(np.arange(12.0)[::2], name="x").to_html()
    coloured = re.findall(r'[";]color:([^;"]+)', html)
    known = [one for one in coloured if one != "inherit"]
    assert known and all("var(--jp-" in one and "var(--vscode-" in one for one in known), known
