"""Notebook 7 on the same server: magics, views, questions to the kernel, a saved page read without it."""

# SPDX-License-Identifier: MIT
import pytest
from labs import Lab, outputs

EXPECTED = ("(reading 'schema')", "Command 'filebrowser:open-path' not registered")
"""Notebook 7.6 says them on the console while it loads, with a notebook of `1 + 1` too."""
CELLS = (
    "%load_ext inspector\nimport numpy as np\nbig = np.zeros(100_000)\nheld = {'inner': [1, 2]}",
    "%inspect big",
    "%inspect --map",
    "%inspect held --graph",
)
NODE = ".down > .node"


@pytest.fixture(scope="module")
def areas(lab: Lab):
    """Run; from here on the console is quiet. Before, what Notebook says of its own loading is no matter."""
    made = lab.run(*CELLS, front="notebooks")
    lab.complaints[:] = [said for said in lab.complaints if "widget" in said or "blob:" in said]
    return made


def test_a_card_and_the_views_are_drawn(lab, areas) -> None:
    assert "/notebooks/" in lab.page.url and lab.page.locator("#jp-top-bar, #top-panel").count() > 0
    made, card, shown, graph = areas
    assert made.inner_text().strip() == ""
    card.locator(".inspector").wait_for()
    assert "800 kB" in card.inner_text()
    for area in (shown, graph):
        area.locator(".inspector-view").wait_for()
        assert not area.locator(".inspector-page").is_visible(), "the page gives way to its view"


def test_a_view_asks_its_kernel(areas) -> None:
    graph = areas[3].locator(".inspector-view")
    graph.locator(NODE, has_text="inner").click()
    graph.locator("[role=status]", has_text="list (2 items)").wait_for()
    assert graph.locator(f".down {NODE}").count() == 2


def test_it_follows_the_theme_and_keeps_what_it_knew_without_its_kernel(lab, areas) -> None:
    lab.end_kernel()
    lab.theme("dark")
    row = areas[2].locator(".row", has_text="big")
    row.hover()
    areas[2].locator("[role=status]", has_text="big: ndarray f8, 800 kB").wait_for()
    assert outputs(lab.page).count() == len(CELLS)
