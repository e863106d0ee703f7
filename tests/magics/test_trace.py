"""`%%inspect_trace`: a cell traced, its value shown, its errors kept, its words refused in one sentence."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import pytest

from inspector import _native

pytestmark = [pytest.mark.core, pytest.mark.quick]
Run = Callable[[str], tuple[Any, list[dict[str, str]]]]


@pytest.fixture(autouse=True)
def names(shell: Any) -> None:
    shell.run_cell("import numpy as np; rows = [1.5] * 1000")


def text(bundles: list[dict[str, str]]) -> str:
    return "\n".join(bundle["text/plain"] for bundle in bundles)


def test_a_cell_shows_its_copies_and_its_value(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    result, shown = run("%%inspect_trace -m numpy\na = np.asarray(rows)\nlen(a)")
    said = text(shown)
    assert result.success
    assert "8.0 kB" in said and "np.asarray(rows)" in said and "a list has no buffer" in said
    assert ":1      np.asarray(rows)" in said
    assert "<details" in shown[-1]["text/html"] and "<script" not in shown[-1]["text/html"]


def test_an_expression_in_a_line(run: Run) -> None:
    _, shown = run("%inspect_trace -m numpy np.asarray(rows)")
    assert "np.asarray(rows)" in text(shown) and "1 of 1 crossings" in text(shown)


def test_drawing_the_value_is_no_part_of_the_cell(run: Run) -> None:
    _, shown = run("%%inspect_trace -m numpy\nnp.arange(5)")
    assert "1 from Python" in text(shown)


def test_a_sample_of_a_cell(run: Run) -> None:
    _, shown = run("%%inspect_trace -m numpy --mode sample --every 5\nfor _ in range(50): np.asarray(rows)")
    assert "10 of 10 crossings" in text(shown) and "40 calls from Python left out" in text(shown)


def test_an_error_in_the_cell_is_the_cells_own(run: Run) -> None:
    result, shown = run("%%inspect_trace -m numpy\nnp.asarray(rows)\n1 / 0")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert "np.asarray(rows)" in text(shown)
    assert _native.calls_armed() == 0


def test_an_interrupted_cell_shows_what_was_recorded(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    cell = "import signal\nnp.asarray(rows)\nsignal.raise_signal(signal.SIGINT)\nnp.asarray(rows, int)"
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        result, shown = run(f"%%inspect_trace -m numpy\n{cell}")
    finally:
        signal.signal(signal.SIGINT, before)
    assert isinstance(result.error_in_exec, KeyboardInterrupt)
    assert "np.asarray(rows)" in text(shown) and "np.asarray(rows, int)" not in text(shown)
    assert _native.calls_armed() == 0


@pytest.mark.parametrize(
    ("line", "slug"),
    [
        ("%inspect_trace", "not-an-expression"),
        ("%inspect_trace -m nothing_of_that_name f()", "unknown-module"),
        ("%inspect_trace --grade loud f()", "bad-option"),
        ("%%inspect_trace rows\nrows", "not-an-expression"),
    ],
)
def test_what_cannot_be_traced_is_one_block(run: Run, line: str, slug: str) -> None:
    result, shown = run(line)
    assert result.success
    assert f"docs/messages.md#{slug}" in text(shown)


def test_a_cell_that_awaits(run: Run) -> None:
    _, shown = run("%%inspect_trace -m numpy\nimport asyncio\nawait asyncio.sleep(0)\nb = np.arange(5)")
    assert "np.arange(5)" in text(shown)


def test_what_would_happen_to_an_object(run: Run) -> None:
    _, shown = run("%inspect rows --to numpy bytes")
    said = text(shown)
    assert "numpy.asarray" in said and ("copies 8.0 kB" in said or "by rule" in said)
    _, shown = run('%inspect np.arange(4.0) --after "np.arange(4.0) * 2"')
    assert "np.arange(4.0) * 2" in text(shown)
    _, shown = run("%inspect rows np --to numpy")
    assert "misplaced-option" in text(shown)
