"""The committed notebooks as `make demo` writes them, light and dark, and as GitHub has them."""

# SPDX-License-Identifier: MIT
import importlib.util
import shutil
from pathlib import Path

import numpy as np
import pytest
from github import sanitised
from inspector.magics.widgets import strides
from inspector.magics.widgets.base import source
from labs import brightness

import inspector

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
FEWEST_CARDS = 4


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request):
    import nbformat

    return nbformat.read(request.param, as_version=4)


@pytest.fixture
def opened(browser):
    """`opened(html file)`: a page that has asked nobody and said nothing on the console."""
    said: list[str] = []
    page = browser.new_page(viewport={"width": 1000, "height": 1400})
    page.on("console", lambda message: said.append(message.text))
    page.on("request", lambda asked: said.append(asked.url))

    def open_(file: Path):
        page.goto(file.as_uri())
        return page

    yield open_
    page.close()
    assert [what for what in said if not what.startswith(("file:", "data:", "blob:"))] == []


def test_it_needs_no_network_and_follows_the_system(notebook, opened, tmp_path) -> None:
    spec = importlib.util.spec_from_file_location("page_writer", ROOT / ".ci" / "page.py")
    writer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(writer)
    shutil.copytree(ROOT / "notebooks" / "pictures", tmp_path / "pictures")
    writer.write(notebook, tmp_path / "page.html")
    page = opened(tmp_path / "page.html")
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        card = page.locator(".inspector th").first
        ground = card.evaluate("x => getComputedStyle(document.body).backgroundColor")
        assert (brightness(card) > 0.5) == (theme == "dark"), (theme, ground)
        assert abs(brightness(card) - brightness(page.locator("body"), "backgroundColor")) > 0.5


def test_sanitised_as_github_does_it_still_stands_in_tables(notebook, opened, tmp_path) -> None:
    cards = [
        output.data["text/html"]
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if 'class="inspector"' in output.get("data", {}).get("text/html", "")
    ]
    (tmp_path / "bare.html").write_text("<meta charset=utf-8>" + "".join(map(sanitised, cards)))
    page = opened(tmp_path / "bare.html")
    head = page.locator("div > table > tbody > tr > th:not(:empty)").nth(1)
    value = head.locator("xpath=following-sibling::td").first
    assert len(cards) >= FEWEST_CARDS and page.locator("[style], [class], script").count() == 0
    assert head.bounding_box()["x"] + head.bounding_box()["width"] <= value.bounding_box()["x"] + 1


def test_at_600_pixels_all_is_seen_and_a_screen_reader_tells_what_pictures_show(opened, tmp_path) -> None:
    a = np.arange(12_000.0).reshape(100, 120)
    b = a[50:, ::3]
    both = inspector.Report("a b", {"comparison": inspector.compare(a, b, names=("a", "b"))})
    boxes = inspector.inspect({"first": [1, 2], "second": {"x": a}}, name="held")
    cards = (inspector.inspect(b, name="b"), both, boxes)
    (tmp_path / "cards.html").write_text(
        "<!DOCTYPE html><meta charset=utf-8>" + "".join(card.to_html() for card in cards)
    )
    page = opened(tmp_path / "cards.html")
    page.set_viewport_size({"width": 600, "height": 1400})
    assert page.locator(".inspector").evaluate_all("all => all.map(x => x.scrollWidth - x.clientWidth)") == [
        0,
        0,
        0,
    ]
    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    told = [(one["role"]["value"], one["name"]["value"]) for one in tree if one.get("name")]
    assert next(name for role, name in told if role == "group" and name) == "inspector: b"
    part, ruler, drawn = (name for role, name in told if role == "image")
    assert part == "What it shows of the 96 kB of its base: from 50 % to 100 %, with gaps."
    assert "; b from 50 % to 100 %, with gaps." in ruler
    assert (
        "refers to list (2 items) with [0] 1, [1] 2; ['second'] refers to dict (1 item) with ['x'] " in drawn
    )


DRAW = """async ([code, scene]) => {
  const from = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  (await import(from)).default.render({ model: { get: () => scene }, el: document.body });
}"""


def test_strides_light_up_the_elements_in_the_base_and_a_slider_moves_further_axes(opened, tmp_path) -> None:
    a = np.arange(120.0).reshape(4, 30)
    b = a[::2, ::3].reshape(2, 5, 2)[:, ::-1]
    report = inspector.inspect(b, name="b")
    (tmp_path / "empty.html").write_text("<!DOCTYPE html><meta charset=utf-8>")
    page = opened(tmp_path / "empty.html")
    page.evaluate(DRAW, [source("kit.js", "strides.js"), strides.scene(report.layout, report)])
    page.get_by_role("slider", name="axis 0").press("ArrowRight")
    assert page.get_by_role("spinbutton", name="axis 0").input_value() == "1"
    page.locator("[role=status]").filter(has_text="[1, 0, 0]").wait_for()
    view = inspector.inspect(a[::2, ::3], name="view")
    page.evaluate(DRAW, [source("kit.js", "strides.js"), strides.scene(view.layout, view)])
    grid = page.get_by_role("img", name="20 of the 120 elements of a that are drawn").last
    lit = grid.locator("span").evaluate_all(
        "all => all.flatMap((one, at) => one.className === 'on' ? [at] : [])"
    )
    assert lit == np.arange(120).reshape(4, 30)[::2, ::3].ravel().tolist()
