"""The bar of a long search: it appears late, goes away, and an interrupt becomes one sentence."""

# SPDX-License-Identifier: MIT
import time

import pytest
from inspector.magics import progress
from IPython.utils.capture import capture_output
from refused import refused

pytestmark = pytest.mark.core


def test_a_short_search_and_none_show_nothing(shell) -> None:
    with capture_output() as captured, progress.bar(True) as told:
        assert told(10, 100)
    assert captured.outputs == []
    with progress.bar(False) as told:
        assert told is None


def test_a_long_search_shows_where_it_is_and_leaves_no_bar(shell, monkeypatch) -> None:
    monkeypatch.setattr(progress, "_FIRST_S", 0.0)
    with capture_output() as captured, progress.bar(True) as told:
        assert told(10_000_000, 100_000_000)
        assert told(11_000_000, 100_000_000)
        time.sleep(progress._EVERY_S)
        assert told(90_000_000, 100_000_000)
    texts = [output.data["text/plain"] for output in captured.outputs[:-1]]
    assert texts == ["searched 10 of 100 MB", "searched 90 of 100 MB"]
    assert captured.outputs[-1].data == {"text/html": "", "text/plain": ""}


def test_a_long_walk_says_so_before_it_begins(shell, monkeypatch) -> None:
    monkeypatch.setattr(progress, "_WALKED_IN_FIRST_S", 1 << 40)
    with capture_output() as captured, progress.bar(False, walks=True) as told:
        assert told is None
    assert captured.outputs == []  # a heap that is small beside it
    monkeypatch.setattr(progress, "_WALKED_IN_FIRST_S", 1)
    with capture_output() as captured, progress.bar(False, walks=True):
        pass
    said, cleared = captured.outputs
    assert "<progress></progress> walking about" in said.data["text/html"] and cleared.data["text/html"] == ""


@pytest.mark.parametrize(("searches", "word"), [(False, "walk"), (True, "search")])
def test_an_interrupt_is_one_sentence(shell, searches: bool, word: str) -> None:
    with refused("stopped") as caught, progress.bar(searches, walks=not searches):
        raise KeyboardInterrupt
    assert word in str(caught.value)


def test_a_traced_cell_says_how_far_it_is_and_leaves_no_bar(shell, monkeypatch) -> None:
    with capture_output() as captured, progress.of_trace() as heard:
        heard(12_345, 1.4)
        heard(99_999, 2.0)
    *said, cleared = captured.outputs
    assert [one.data["text/plain"] for one in said] == [
        "traced for 1 s, 12,345 records",
        "traced for 2 s, 99,999 records",
    ]
    assert cleared.data["text/html"] == ""
