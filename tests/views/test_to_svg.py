"""SVG: well-formed, on a grid of cells, nothing from the network, dark and light."""

# SPDX-License-Identifier: MIT
from xml.etree import ElementTree

import pytest
from drawings import CARD

from inspector.views.rows import Drawing
from inspector.views.to_svg import CELL_WIDTH, MARGIN, to_svg
from inspector.views.to_text import plain_text

pytestmark = pytest.mark.quick

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("width", [40, 80])
def test_it_says_what_the_terminal_says(width: int) -> None:
    tree = ElementTree.fromstring(to_svg(CARD, Drawing(width=width), "x"))
    texts = [element.text for element in tree.iter(f"{SVG}text")]
    drawn = plain_text(CARD, Drawing(width=width))
    assert "".join("".join(filter(None, texts)).split()) == "".join(drawn.split())


def test_each_span_stands_in_its_cell_and_inside_the_picture() -> None:
    tree = ElementTree.fromstring(to_svg(CARD, Drawing(), "x"))
    width = float(tree.attrib["width"])
    for element in tree.iter(f"{SVG}text"):
        left, length = float(element.attrib["x"]), float(element.attrib["textLength"])
        assert (left - MARGIN) / CELL_WIDTH == pytest.approx(round((left - MARGIN) / CELL_WIDTH), abs=0.02)
        assert left + length <= width - MARGIN + 1


def test_it_loads_nothing_and_has_both_themes() -> None:
    svg = to_svg(CARD, Drawing(), "<title>")
    assert "url(" not in svg
    assert svg.count("http") == 1, "the namespace only"
    assert "prefers-color-scheme:dark" in svg
    assert 'aria-label="&lt;title&gt;"' in svg
