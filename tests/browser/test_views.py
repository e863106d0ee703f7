"""The live views in a real JupyterLab: pointed at, clicked, typed at; no text lies on another; both themes.

All views stand in one notebook, which is run once. A picture of each in each theme is compared, coarsely,
with the one that docs/reference/views.md shows; INSPECTOR_PICTURES=1 (`make pictures`) writes those instead.
"""

# SPDX-License-Identifier: MIT
import io
import json
import os
from pathlib import Path

import pytest
from boxes import apart, labels, nameless, only_by_colour, overlaps
from labs import Lab

PICTURES = Path(__file__).parents[2] / "docs" / "pictures" / "views"
SETUP = """\
%load_ext inspector
import inspector
import numpy as np
big = np.zeros(1_000_000)
big[:200_000] = 1.0
head, x, every = big[:100_000], big[500_000:500_012], big[::2]
"""
MORE = """\
m, numbers = np.arange(12.).reshape(3, 4).T, [float(i) for i in range(2000)]
held = {"inner": [1, 2], "text": "<b>bold</b>"}
keeper = [held]
spare = bytearray(5_000_000)
"""
CELLS = {
    "memory-map": "%inspect --map",
    "graph": "%inspect held --graph",
    "strides": "%inspect m --strides",
    "layers": "%inspect big --layers",
    "changes": "%%inspect --live\nmade = bytearray(10_000_000)\nrows = [[i] for i in range(1000)]\ndel spare",
    "trace": "%%inspect_trace --live -m numpy\na = np.asarray(numbers)\nb = np.ascontiguousarray(m)",
    "breaks": "%%inspect_break --live PyFloat_FromString\nfloat('1.5'), float('2.5')",
    "steps": "%%inspect_debug --live --at PyFloat_FromString\nfloat('1.5')",
}
LABELS = PICTURES / "labels.json"
"""The words of each view, written with the pictures: one that is missing fails."""
EVIL = "<img src=x onerror=document.title='owned'>"


MANY = """\
from inspector.facts.conversion import Call, Conversion, Site, Trace
from inspector.magics.widgets import timeline
from inspector.report import Report
no = inspector.Unknown("supposed")
line = Site("a.py", 1, "f", no, "call()")
inner = (Conversion("PyLong_AsLong", "to native", "new", "", (), 1, 0, "numpy", 10, 1),) * 99
call = Call("numpy.f", "method", "x", line, 1, (), 0, no, 0, 1, 1000, 900, inner, (), 0)
fact = Trace((call,) * 1000, 0, (), no, (), (), 100_000, 0, 1_000_000, "record")
display(timeline.open_view(fact, Report("many", {}).drawn(everything=True)))"""
"""A trace of 100,000 nodes, more than any cell here makes."""

RENAME = """(title, name) => {
  title.textContent = name;
  title.closest('[role=group]').setAttribute('aria-label', name);
}"""

KEYS = """tree => {
  const took = [];
  const press = key => {
    const begun = performance.now();
    tree.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    tree.offsetHeight;  // lay it out now
    took.push(performance.now() - begun);
  };
  tree.focus();
  for (let at = 0; at < 20; at += 1) { press('ArrowRight'); press('ArrowDown'); press('End'); press('Home'); }
  return took.sort((a, b) => a - b);
}"""


class Board:
    """The notebook with every view, run."""

    def __init__(self, lab: Lab) -> None:
        self.lab, self.page = lab, lab.page
        first, *others = CELLS.values()  # the map's picture needs names that lie together
        _, shown, _, *more, many = lab.run(SETUP, first, MORE, *others, MANY)
        areas = zip((*CELLS, "many"), (shown, *more, many), strict=True)
        self.views = {name: area.locator(".inspector-view") for name, area in areas}

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
def board(lab) -> Board:
    return Board(lab)


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


def test_a_graph_opens_to_both_sides(board) -> None:
    view = board.view("graph")
    assert "held" in view.get_by_label("path from a root").inner_text()
    inner = view.locator(".down > .node", has_text="inner")
    inner.click()
    board.says("graph", "list (2 items): 2 references")
    assert view.locator(".down .down > .node").count() == 2
    assert inner.get_attribute("aria-expanded") == "true"
    keeper = view.locator(".up > .node", has_text="list (1 item)")
    keeper.focus()
    keeper.press("Enter")
    board.says("graph", "1 reference")
    assert "keeper" in view.locator(".children.up .children.up .node").first.inner_text()
    assert "<b>bold</b>" in view.inner_text() and view.locator("b").count() == 0
    inner.click()
    assert view.locator(".down .down > .node").count() == 0


def test_moving_in_a_grid_shows_the_bytes_touched(board) -> None:
    grid = board.view("strides").get_by_role("grid")
    grid.focus()
    grid.press("ArrowDown")
    board.says("strides", "[1, 0] = 1.0: 8 bytes at +8")
    grid.press("ArrowRight")
    board.says("strides", "[1, 1] = 5.0: 8 bytes at +40")
    grid.press("ArrowLeft")
    grid.press("ArrowUp")
    board.says("strides", "[0, 0] = 0.0: 8 bytes at +0")
    assert board.view("strides").locator(".bytes .on").count() == 8
    assert "→ 32 B" in board.view("strides").inner_text()


def test_a_layer_tells_its_evidence_and_a_strip_its_pages(board) -> None:
    view = board.view("layers")
    view.locator(".row", has_text="pages").click()
    board.says("layers", "pages: ")
    strip = view.locator(".pages")
    strip.focus()
    board.says("layers", "part 1 of")
    board.says("layers", "private")
    strip.press("End")
    board.says("layers", "mostly absent")


def test_changes_are_filtered_and_sorted(board) -> None:
    view = board.view("changes")
    assert {"made", "spare", "rows"} <= set(view.locator(".row .name").all_inner_texts())
    assert "-5.0 MB" in view.locator(".row", has_text="spare").first.inner_text()
    view.get_by_label("filter by name").fill("ro")
    board.says("changes", "1 of 3 names")
    view.get_by_label("filter by name").fill("")
    view.get_by_role("button", name="types").click()
    board.says("changes", "types. Solid")
    assert view.locator(".row .name").first.inner_text() == "bytearray"
    view.get_by_role("button", name="names").click()


def test_a_trace_is_zoomed_folded_sorted_and_leads_to_its_line(board) -> None:
    view = board.view("trace")
    whole = view.locator(".head .dim", has_text="events in").inner_text()
    view.get_by_role("button", name="zoom in").click()
    view.locator(".head .dim", has_text="events in").filter(has_not_text=whole).wait_for()
    view.get_by_role("button", name="whole").click()
    view.locator(".head .dim", has_text=whole).wait_for()
    tree = view.get_by_role("tree")
    tree.focus()
    closed = view.get_by_role("treeitem").count()
    tree.press("ArrowRight")
    assert view.get_by_role("treeitem").count() > closed
    tree.press("ArrowLeft")
    assert view.get_by_role("treeitem").count() == closed
    view.get_by_label("filter the copies").fill("asarray")
    copied = view.get_by_role("listbox").get_by_role("option")
    assert copied.count() == 1 and "16 kB" in copied.inner_text()
    copied.click()
    board.says("trace", "a list has no buffer")
    assert "np.asarray(numbers)" in board.page.evaluate("() => getSelection().toString()")
    view.get_by_label("filter the copies").fill("")


def test_a_hit_shows_its_arguments_and_both_stacks(board) -> None:
    view = board.view("breaks")
    hits = view.get_by_role("listbox")
    hits.focus()
    hits.press("End")
    board.says("breaks", "hit 2: PyFloat_FromString")
    stack = view.locator(".stack").inner_text()
    assert "Py" in stack and "<module>" in stack
    view.get_by_role("button", name="plumbing").click()
    assert len(view.locator(".stack").inner_text()) > len(stack)
    view.get_by_role("button", name="plumbing").click()
    hits.press("Home")


def test_a_stopped_child_is_stepped_by_buttons(board) -> None:
    view = board.view("steps")
    assert "PyFloat_FromString" in view.locator(".head").first.inner_text()
    view.get_by_role("button", name="up").click()
    view.locator(".head .name").filter(has_not_text="PyFloat_FromString").wait_for()
    view.get_by_role("button", name="down").press("Enter")
    view.locator(".head .name").filter(has_text="PyFloat_FromString").wait_for()
    assert view.get_by_label("variables and stack").locator(".py").count() > 0, "both languages"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_text_lies_on_another_and_the_pictures_are_those_of_the_docs(board, theme: str) -> None:
    board.lab.theme(theme)
    board.page.mouse.move(1, 1)
    words = written() if LABELS.exists() else {}
    for name in CELLS:
        view = board.view(name)
        assert overlaps(view) == [] == only_by_colour(view), name
        view.evaluate(WITHOUT_STRAYS)
        shot = board.lab.photograph(view, f"{name}-{theme}")
        kept = PICTURES / f"{name}-{theme}.png"
        if os.environ.get("INSPECTOR_PICTURES"):
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(few_colours(shot))
            words[name] = sorted(set(labels(view)) & set(words.get(name, labels(view))))
        mean, shape = apart(board.page, shot, kept.read_bytes())
        assert mean < 0.06 and 0.85 < shape < 1.18, f"{name}: {mean:.3f} {shape:.2f}; see build/browser"
        assert missing(words[name], view) == [], name
    if os.environ.get("INSPECTOR_PICTURES"):
        said = {name: " ".join(some) for name, some in words.items()}
        LABELS.write_text(json.dumps(said, indent=1) + "\n")


def few_colours(shot: bytes) -> bytes:
    """The same picture with a palette of 64 colours: less than half the bytes, and nobody sees it."""
    from PIL import Image

    to = io.BytesIO()
    Image.open(io.BytesIO(shot)).convert("RGB").quantize(64, dither=Image.Dither.NONE).save(
        to, "PNG", optimize=True
    )
    return to.getvalue()


def written() -> dict[str, list[str]]:
    """The words of each view that has a picture."""
    return {name: said.split() for name, said in json.loads(LABELS.read_text()).items()}


WITHOUT_STRAYS = """view => {
  for (const node of view.querySelectorAll('.node.unsure')) node.parentElement.style.display = 'none';
}"""
"""Words in memory that only may be pointers come and go; no picture has them."""


def missing(words: list[str], view) -> list[str]:
    """Words that the view had when its picture was made, and has no more."""
    return sorted(set(words) - set(labels(view)))


def test_a_planted_overlap_and_a_label_taken_away_are_found(board) -> None:
    """The two checks above can fail."""
    view = board.view("memory-map")
    words = written()["memory-map"]
    title = view.locator(".title")
    said = title.inner_text()
    title.evaluate("title => { title.style.position = 'relative'; title.style.left = '8ch'; }")
    lies = overlaps(view)
    title.evaluate("title => title.removeAttribute('style')")
    title.evaluate(RENAME, "")
    gone = missing(words, view)
    title.evaluate(RENAME, said)
    assert lies and gone and set(gone) <= set(said.split())


@pytest.mark.parametrize(
    ("words", "ground"), [("C", ""), ("", "rgb(200, 0, 0)")], ids=["another's letter", "no letter"]
)
def test_a_planted_colour_without_a_word_is_found(board, words: str, ground: str) -> None:
    """The check above can fail."""
    language = board.view("breaks").locator(".stack .py").first
    said = language.inner_text()
    language.evaluate(PLANT, [words, ground])
    found = only_by_colour(board.view("breaks"))
    language.evaluate(PLANT, [said, ""])
    assert found and only_by_colour(board.view("breaks")) == []


PLANT = "(one, [words, ground]) => { one.textContent = words; one.style.background = ground; }"
WALK = """view => {
  const takes = 'button:not(:disabled), input, select, [tabindex="0"]';
  return Array.from(view.querySelectorAll(takes)).filter(one => one.getClientRects().length).length;
}"""
FOCUSED = """view => {
  const one = document.activeElement;
  if (!view.contains(one)) return null;
  const style = getComputedStyle(one), controls = Array.from(view.querySelectorAll('*'));
  return [controls.indexOf(one), style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0];
}"""


def test_the_tab_key_goes_through_every_control_and_each_shows_that_it_has_the_focus(board) -> None:
    for name in CELLS:
        view = board.view(name)
        view.evaluate("view => { view.tabIndex = -1; view.focus(); }")
        reached = {}
        while True:
            board.page.keyboard.press("Tab")
            at = view.evaluate(FOCUSED)
            if at is None or at[0] in reached:
                break
            reached[at[0]] = at[1]
        view.evaluate("view => view.removeAttribute('tabindex')")
        assert len(reached) == view.evaluate(WALK) > 0, name
        assert all(reached.values()), f"{name}: the focus is not seen"
        assert nameless(view) == [], name
        assert view.get_attribute("role") == "group" and view.get_attribute("aria-label"), name
        assert view.locator("[role=status][aria-live=polite]").count() == 1, name
        assert view.locator("button[tabindex='-1'], [role=listbox]:not([tabindex])").count() == 0, name


def test_a_hundred_thousand_nodes_answer_a_key_at_once(board) -> None:
    tree = board.view("many").get_by_role("tree")
    assert "100,000 events" in board.view("many").inner_text()
    took = tree.evaluate(KEYS)
    assert took[len(took) // 2] < 100, "milliseconds of the median key, layout included"
    assert tree.get_by_role("treeitem").count() < 60, "only the rows in sight are in the page"


def test_what_was_seen_stays_when_the_kernel_is_gone(board) -> None:
    board.lab.end_kernel()
    view = board.view("trace")
    view.get_by_role("button", name="zoom in").click()
    board.says("trace", "busy or gone")
    assert "np.asarray(numbers)" in view.get_by_role("tree").inner_text()
    board.view("memory-map").locator(".row", has_text="every").hover()
    board.says("memory-map", "every: ndarray f8")
