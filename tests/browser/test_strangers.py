"""What a stranger named, sized or sent, on the real page: text, cut, escaped; a word where no number is."""

# SPDX-License-Identifier: MIT
import pytest
from labs import Lab

EVIL = "<img src=x onerror=document.title='owned'><script>document.title='owned'</script>\u202e\u200b\x1b[31m"
SETUP = f"""\
%load_ext inspector
import numpy as np
evil = {EVIL!r}
def f(): ...
f.__doc__ = f.__name__ = f.__qualname__ = evil
class Shown:
    def __repr__(self):
        raise AssertionError("a repr was run")
big = np.zeros(100_000)
globals().update({{evil: big[5:], "n" * 1_000_000: big[7:]}})
made = type(evil, (), {{"__doc__": evil, "__slots__": ()}})
held = {{evil: [evil, made(), Shown()], "k" * 1_000_000: [1]}}
numbers = [1.0, 2.0]"""
LOOKS = {
    "map": "%inspect --map --all",
    "graph": "%inspect held --graph",
    "strides": "%inspect globals()[evil] --strides",
    "layers": "%inspect globals()[evil] --layers",
    "changes": "%%inspect --live\nglobals()[evil + 'born'] = [made()]",
    "trace": "%%inspect_trace --live -m numpy\nnp.asarray(numbers, **{}) if evil else '" + EVIL[:9] + "'",
    "docstring": "%inspect f --explain",
    "type": "%inspect made",
    "dict": "%inspect held",
    "instance": "%inspect held[evil][2]",
}
SUPPOSED = """\
from dataclasses import replace
from inspector import facts
from inspector.facts.graph import Edge, Graph, Step
from inspector.facts.heap import Difference, NameChange, TypeChange
from inspector.facts.memory import Range
from inspector.facts.memory_map import MemoryMap
from inspector.facts.namespace import Namespace, Row
from inspector.facts.unknown import Address
from inspector.magics.widgets import changes, graph, memory_map
from inspector.report import Report
at, no = Address(4096), float("nan")
row = Row("x", "ndarray f8", at, no, 1, "owned", 0, "", no, (Range(at, Address(8192)),))
edge = Edge("x", "name", "list", "list", at, no, True, False)
step = Step((edge,), no, "")
moved = NameChange("x", "born", "list", 1, no)
for view, fact in (
    (memory_map, MemoryMap(Namespace((row,), no, 0, no))),
    (graph, Graph("list", at, (), step, step)),
    (changes, Difference(no, no, no, (TypeChange("list", no, no),), (moved,), 1)),
):
    display(view.open_view(fact, Report("supposed", {})))"""
"""Views of facts whose sizes are no numbers: no object here has such."""

TURNING = "\u202e\u200b\x1b"
LONGEST = 30_000
"""Characters that the page shows of a cell, however long a name is."""

HOSTILE = """async ([sent, gone]) => {
  const own = jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  const other = jupyterapp.serviceManager.kernels.connectTo({ model: own.model, handleComms: true });
  const ids = Object.keys((await own.requestCommInfo({ target_name: 'jupyter.widget' })).content.comms);
  for (const id of [...ids, gone]) {
    const comm = other.createComm('jupyter.widget', id);
    for (const data of sent) await comm.send(data).done;
  }
  await own.requestKernelInfo();
  other.dispose();
  return ids.length;
}"""
"""Another front end on the kernel tells each view, and one that is gone, what it likes."""
SENT = [
    {"method": "update", "state": {"scene": {"bars": "owned"}, "_esm": "export {}"}, "buffer_paths": []},
    {"method": "custom", "content": {"ask": "__init__", "number": "1"}},
    {"method": "custom", "content": {"ask": "neighbours", "number": "2", "at": "0x10", "up": "owned"}},
    {"method": "custom", "content": {"ask": "window", "number": "3", "begin": 1e308, "end": None}},
    {"method": "custom", "content": "owned"},
]


class Met:
    """The notebook, run: what its cells showed."""

    def __init__(self, lab: Lab) -> None:
        self.page = lab.page
        _, *areas, self.supposed = lab.run(SETUP, *LOOKS.values(), SUPPOSED)
        self.areas = dict(zip(LOOKS, areas, strict=True))
        for name in ("map", "graph", "strides", "layers", "changes", "trace"):
            self.areas[name].locator(".inspector-view").wait_for()

    def words(self) -> dict[str, str]:
        """What each cell shows."""
        return {name: area.inner_text() for name, area in self.areas.items()}


@pytest.fixture(scope="module")
def met(lab) -> Met:
    return Met(lab)


def test_names_docstrings_and_reprs_are_text_and_cut(met) -> None:
    for name, words in met.words().items():
        assert words.strip() and "Traceback" not in words and "a repr was run" not in words, name
        assert not set(TURNING) & set(words) and len(words) < LONGEST, name
        assert met.areas[name].locator("img, script").count() == 0, name
    for name in ("map", "graph", "changes", "type", "dict"):
        assert "<img src=x" in met.words()[name], name
    assert "owned" not in met.page.title()


def test_a_size_that_is_no_number_is_a_word(met) -> None:
    views = met.supposed.locator(".inspector-view")
    views.nth(2).wait_for()
    for number in range(3):
        words = views.nth(number).inner_text()
        assert "? nan" in words and "NaN" not in words, words


def test_what_another_front_end_sends_changes_nothing(met) -> None:
    before = met.words()
    assert met.page.evaluate(HOSTILE, [SENT, "0" * 32]) >= len(LOOKS) - 4
    assert met.words() == before
    met.areas["graph"].locator(".down > .node", has_text="list (3 items)").first.click()
    met.areas["graph"].locator(".down .down > .node").first.wait_for()
