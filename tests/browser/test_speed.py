"""How soon the page answers, by its own clock: a card, a view, a key, a click on a million events.

The fastest of some rounds is asserted, and no more are made than it takes: what a busy machine adds is no
part of it. Each says what it measured.
"""

# SPDX-License-Identifier: MIT
import itertools
import re
from collections.abc import Iterable, Iterator

import pytest
from labs import Lab

ROUNDS = 30
WITHIN_MS = 100
SETUP = """\
%load_ext inspector
import numpy as np
from threading import Thread
million, few = [float(i) for i in range(1_000_000)], np.arange(3.0)
from random import Random
calls = [eval("lambda: np.add.reduce(few)") for _ in range(2_000)]
def sums():
    for call in Random(1).choices(calls, k=90_000):  # in no order that repeats: nothing is added up
        call()
globals().update((f"n{i}", bytearray(5_000)) for i in range(3_000))"""
CELLS = (
    SETUP,
    "%inspect million",
    "%inspect --map",
    "%inspect --map --all",
    """\
%%inspect_trace --live -m numpy
two = [Thread(target=sums) for _ in "ab"]
[one.start() for one in two]
[one.join() for one in two];""",
)

APPEARS = """async ([at, selector]) => {
  const panel = jupyterapp.shell.currentWidget, kernel = panel.sessionContext.session.kernel;
  const cell = panel.content.widgets[at];
  panel.content.activeCellIndex = at;
  cell.outputArea.model.clear();
  let over = 0;
  const heard = (_, { msg }) => {
    if (msg.header.msg_type === 'execute_reply' && !over) over = performance.now();
  };
  const shown = new Promise(done => {
    const look = new MutationObserver(() => {
      if (!cell.outputArea.node.querySelector(selector)) return;
      look.disconnect();
      requestAnimationFrame(() => done(performance.now()));
    });
    look.observe(cell.outputArea.node, { childList: true, subtree: true });
  });
  kernel.anyMessage.connect(heard);
  await jupyterapp.commands.execute('notebook:run-cell');
  const seen = await shown;
  kernel.anyMessage.disconnect(heard);
  return seen - over;
}"""
"""Milliseconds from a cell's end to the frame in which its output is drawn; negative: it was there before."""

ANSWERS = """async ([root, act]) => {
  const done = new Function('root', `return (${act})(root)`);
  const frame = () => new Promise(next => requestAnimationFrame(next));
  await frame();
  const begun = performance.now();
  await done(root);
  await frame();
  return performance.now() - begun;
}"""
"""Milliseconds from an act to the frame that shows it."""

PRESS = """root => {
  const list = root.querySelector('[role=listbox]');
  list.focus();
  const key = list.scrollTop ? 'Home' : 'End';
  list.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
}"""
WINDOW = """root => new Promise(done => {
  const words = root.querySelector('.lanes').previousElementSibling.lastElementChild;
  const look = new MutationObserver(() => { look.disconnect(); done(); });
  look.observe(words, { childList: true, characterData: true, subtree: true });
  Array.from(root.querySelectorAll('button')).find(one => one.textContent === '%s').click();
})"""


class Timed:
    """The notebook, run once."""

    def __init__(self, lab: Lab) -> None:
        self.page = lab.page
        self.areas = lab.run(*CELLS)

    def appears(self, cell: int, selector: str) -> float:
        """Milliseconds of one run of a cell."""
        return self.page.evaluate(APPEARS, [cell, selector])

    def answers(self, cell: int, act: str) -> float:
        """Milliseconds of one act."""
        root = self.areas[cell].locator(".inspector-view")
        root.wait_for()
        root.scroll_into_view_if_needed()
        return self.page.evaluate(ANSWERS, [root.element_handle(), act])


def fastest(what: str, measured: Iterable[float]) -> float:
    """Milliseconds: the least of some rounds, until one is within the bar."""
    least = float("inf")
    for took in itertools.islice(measured, ROUNDS):
        least = min(least, took)
        if least < WITHIN_MS:
            break
    print(f"{what}: {least:.0f} ms")
    return least


@pytest.fixture(scope="module")
def timed(lab) -> Timed:
    return Timed(lab)


def test_a_trace_of_a_million_is_drawn_anew_at_once(timed) -> None:
    """The kernel is asked for each window; what is more than the trace's two rings hold is counted."""
    view = timed.areas[4].locator(".inspector-view")

    def moved(before: str, move: str) -> Iterator[float]:
        while True:
            timed.answers(4, WINDOW % before)
            yield timed.answers(4, WINDOW % move)

    assert fastest("a quarter of a million", moved("whole", "zoom in")) < WITHIN_MS
    assert fastest("the next half quarter", moved("earlier", "later")) < WITHIN_MS
    assert fastest("all of it again", moved("zoom in", "whole")) < WITHIN_MS
    assert re.search(r"1,04\d,\d{3} events", view.inner_text()), "of both threads"
    assert "dropped" in view.inner_text()
    assert view.locator(".lanes .box").count() <= 1_500


def test_two_thousand_bars_answer_a_key_at_once(timed) -> None:
    view = timed.areas[3].locator(".inspector-view")
    pressed = (timed.answers(3, PRESS) for _ in itertools.count())
    assert fastest("a key", pressed) < WITHIN_MS
    assert "2,000 bars" in view.inner_text() and "names more, not drawn" in view.inner_text()
    assert view.locator(".row").count() < 60, "only the rows in sight are in the page"


@pytest.mark.parametrize(("cell", "selector"), [(1, ".inspector"), (2, ".inspector-view")])
def test_it_appears_with_the_cells_end(timed, cell: int, selector: str) -> None:
    runs = (timed.appears(cell, selector) for _ in itertools.count())
    assert fastest(selector, runs) < WITHIN_MS
