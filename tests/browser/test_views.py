"""The live views in a real JupyterLab: pointed at, clicked, typed at; no text lies on another; both themes.

All views stand in one notebook, which is run once. A picture of each in each theme is compared, coarsely,
with the one that docs/views.md shows; INSPECTOR_PICTURES=1 (`make pictures`) writes those instead.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from boxes import apart, overlaps
from conftest import SHOTS
from labs import Lab

PICTURES = Path(__file__).parents[2] / "docs" / "pictures" / "views"
SETUP = """\
%load_ext inspector
import numpy as np
big = np.zeros(1_000_000)
head, x, every = big[:100_000], big[500_000:500_012], big[::2]
"""
CELLS = {
    "memory-map": "%inspect --map",
}
EVIL = "<img src=x onerror=document.title='owned'>"


class Board:
    """The notebook with every view, run."""

    def __init__(self, lab: Lab) -> None:
        self.lab, self.page = lab, lab.page
        areas = lab.run(SETUP, *CELLS.values())[1:]
        self.views = {name: area.locator(".inspector-view") for name, area in zip(CELLS, areas, strict=True)}

    def view(self, name: str):
        """The view of that name, drawn and in sight."""
        found = self.views[name]
        found.wait_for()
        found.scroll_into_view_if_needed()
        return found

    def says(self, name: str, words: str) -> None:
        """Wait until the line that is read aloud has these words."""
        self.view(name).locator("[role=status]").filter(has_text=words).wait_for()


@pytest.fixture(scope="module")
def board(server, browser) -> Iterator[Board]:
    lab = Lab(server, browser, SHOTS, "views")
    yield Board(lab)
    lab.close()
    assert lab.complaints == []
    assert lab.strangers == []


def test_pointing_at_a_name_lights_up_who_shares_its_bytes(board) -> None:
    view = board.view("memory-map")
    view.locator(".row", has_text="head").hover()
    board.says("memory-map", "head: ndarray f8, 800 kB, view of big; shares bytes with big, every, x")
    assert view.locator(".row.lit .name").all_inner_texts() == ["big", "every", "head", "x"]
    rows = view.locator("[role=listbox]")
    rows.focus()
    rows.press("End")
    board.says("memory-map", "x: ndarray f8, 96 B")
    bar = view.locator(".row", has_text="head").locator(".bar").bounding_box()
    whole = view.locator(".row", has_text="big").first.locator(".bar").bounding_box()
    assert 0.08 < bar["width"] / whole["width"] < 0.12, "to scale"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_text_lies_on_another_and_the_pictures_are_those_of_the_docs(board, theme: str) -> None:
    board.lab.theme(theme)
    board.page.mouse.move(1, 1)
    for name in CELLS:
        view = board.view(name)
        assert overlaps(view) == [], name
        shot = board.lab.photograph(view, f"{name}-{theme}")
        kept = PICTURES / f"{name}-{theme}.png"
        if os.environ.get("INSPECTOR_PICTURES"):
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(shot)
        mean, shape = apart(board.page, shot, kept.read_bytes())
        assert mean < 0.06 and 0.85 < shape < 1.18, f"{name}: {mean:.3f} {shape:.2f}; see build/browser"
