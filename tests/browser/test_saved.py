"""A notebook of views without its kernel, on a second page, opened elsewhere: no text lost, none run."""

# SPDX-License-Identifier: MIT
import json

import pytest
from labs import Lab, outputs

EXPECTED = ("widget model not found",)
"""Lab's words for a lost kernel."""

SAVE = """async () => {
  await jupyterapp.commands.execute('docmanager:save');
  await jupyterapp.shell.currentWidget.sessionContext.session.kernel.info;
}"""
EVIL = "<img src=x onerror=document.title='owned'><script>document.title='owned'</script>"
SETUP = f"""\
%load_ext inspector
import numpy as np
big = np.zeros(100_000)
held = {{"inner": [1, 2], {EVIL!r}: "\\u202e\\u200b"}}
globals()[{EVIL!r}] = big[5:]
"""
CELLS = (SETUP, "%inspect --map", "%inspect held --graph")
NODE = ".down > .node"


class Saved:
    """A notebook with two views, run and saved; its kernel lives until it is ended."""

    def __init__(self, lab: Lab) -> None:
        self.lab, self.page = lab, lab.page
        _, self.map, self.graph = lab.run(*CELLS)
        self.map.locator(".inspector-view").wait_for()
        self.graph.locator(".inspector-view").wait_for()
        self.page.evaluate(SAVE)
        self.file = max(lab.server.folder.glob("*.ipynb"), key=lambda path: path.stat().st_mtime_ns)

    def on(self, page):
        """The two views' output areas on another page, which shows the notebook from now on."""
        self.lab.server.show(page, self.file.name, len(CELLS))
        return views(page)


@pytest.fixture(scope="module")
def saved(lab) -> Saved:
    return Saved(lab)


@pytest.fixture(scope="module")
def second(saved):
    """Another page on the same server."""
    page = saved.lab.another()
    yield page
    page.close()


def views(page):
    """The output areas of the two views' cells."""
    areas = outputs(page)
    return areas.nth(1), areas.nth(2)


def reads_as_text(page) -> None:
    """The pages of both views are there whole, as text; nothing in them was run."""
    shown, graph = views(page)
    shown.locator(".inspector").wait_for()
    for area, words in ((shown, "to scale"), (graph, "inner")):
        assert words in area.locator(".inspector").inner_text()
        assert area.locator(".inspector-view").count() == 0
        assert "<img src=x" in area.inner_text() and area.locator("img, script").count() == 0
        assert "Error" not in area.inner_text()
    assert "owned" not in page.title()


def test_the_page_is_hidden_while_its_view_is_drawn(saved) -> None:
    for area in (saved.map, saved.graph):
        assert area.locator(".inspector-view").is_visible()
        assert area.locator(".inspector-page").count() == 1
        assert not area.locator(".inspector-page").is_visible()
    assert "&lt;img" in saved.map.inner_html() and saved.map.locator("img, script").count() == 0


def test_a_second_page_on_the_kernel_has_the_views_and_each_walks_on_its_own(saved, second) -> None:
    _, graph = saved.on(second)
    view = graph.locator(".inspector-view")
    view.wait_for()
    assert not graph.locator(".inspector-page").is_visible()
    view.locator(NODE, has_text="inner").click()
    view.locator(f".down {NODE}").first.wait_for()
    here = saved.graph.locator(".inspector-view")
    assert here.locator(f".down {NODE}").count() == 0, "a click there opens nothing here"
    here.locator(NODE, has_text="inner").click()
    here.locator("[role=status]", has_text="list (2 items)").wait_for()
    assert here.locator(f".down {NODE}").count() == view.locator(f".down {NODE}").count() == 2


def test_another_kernel_has_its_own_views_and_takes_none_with_it(saved, second) -> None:
    cells = "%load_ext inspector\nheld = {'another': 1}\n", "%inspect held --graph"
    area = saved.lab.run(*cells, page=second)[1]
    area.locator(".inspector-view").wait_for()
    assert "another" in area.inner_text() and "inner" not in area.inner_text()
    saved.lab.end_kernel(second)
    walks_on(saved.graph)


def test_opened_from_a_file_saved_elsewhere_it_is_not_trusted_and_reads_as_text(saved, second) -> None:
    cells = json.loads(saved.file.read_text())
    cells["metadata"]["elsewhere"] = True  # another file, which nobody here has signed
    name = f"elsewhere-{saved.file.name}"
    (saved.file.parent / name).write_text(json.dumps(cells))
    saved.lab.server.show(second, name, len(CELLS))
    trusts = "() => Array.from(jupyterapp.shell.currentWidget.content.model.cells).map(one => one.trusted)"
    reads_as_text(second)
    assert second.evaluate(trusts) == [False] * len(CELLS)


def test_the_first_page_works_on_when_the_second_has_gone(saved, second) -> None:
    second.close()
    walks_on(saved.graph)


def walks_on(graph) -> None:
    """A node of a graph that was open or closed is the other, by its kernel's answer."""
    inner = graph.locator(NODE, has_text="inner")
    if inner.get_attribute("aria-expanded") == "true":
        inner.click()
        assert graph.locator(f".down {NODE}").count() == 0
    inner.click()
    graph.locator(f".down {NODE}").first.wait_for()


def test_opened_again_without_its_kernel_a_trusted_notebook_reads_as_text(saved) -> None:
    """Last: it ends the kernel."""
    saved.lab.end_kernel()
    page = saved.lab.another()
    saved.on(page)
    error = page.locator(".jupyter-widgets", has_text="Error displaying widget")
    error.nth(1).wait_for(state="attached")
    reads_as_text(page)
    page.close()
