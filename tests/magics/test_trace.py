"""`%%inspect_trace`: a cell traced, its value shown, its errors kept, its words refused in one sentence."""

# SPDX-License-Identifier: MIT
import signal
from collections.abc import Callable
from typing import Any

import pytest

from inspector import _native

pytestmark = [pytest.mark.core, pytest.mark.quick]
Run = Callable[[str], tuple[Any, list[dict[str, str]]]]
Shown = Callable[[str], str]


@pytest.fixture(autouse=True)
def names(shell: Any) -> None:
    shell.run_cell("import numpy as np; rows = [1.5] * 1000")


def test_a_cell_shows_its_copies_and_its_value(run: Run) -> None:
    result, shown = run("%%inspect_trace -m numpy\na = np.asarray(rows)\nlen(a)")
    said = "\n".join(bundle["text/plain"] for bundle in shown)
    assert result.success and "8.0 kB copied by one line" in said and "1,000 Python floats → float64" in said
    assert "1  a = np.asarray(rows)" in said
    assert "<details" in shown[-1]["text/html"] and "<script" not in shown[-1]["text/html"]


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("%inspect_trace -m numpy np.asarray(rows)", ["np.asarray(rows)", "8.0 kB copied by one line"]),
        (
            "%%inspect_trace -m numpy\nnp.arange(5)",
            ["np.arange(5)  new  40 B"],
        ),  # and not of what draws the value
        (
            "%%inspect_trace -m numpy --mode sample --every 5\nfor _ in range(50): np.asarray(rows)",
            ["copied ×10", "40 calls from Python left out"],
        ),
        (
            "%%inspect_trace -m numpy\nimport asyncio\nawait asyncio.sleep(0)\nb = np.arange(5)",
            ["np.arange(5)"],
        ),
        ('%inspect np.arange(4.0) --after "np.arange(4.0) * 2"', ["np.arange(4.0) * 2"]),
    ],
    ids=["line", "value", "sample", "await", "after"],
)
def test_what_is_traced_is_shown(shown: Shown, cell: str, words: list[str]) -> None:
    said = shown(cell)
    assert [word for word in words if word not in said] == []


def test_an_error_in_the_cell_is_the_cells_own(run: Run) -> None:
    result, shown = run("%%inspect_trace -m numpy\nnp.asarray(rows)\n1 / 0")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert "np.asarray(rows)" in str(shown)
    assert _native.calls_armed() == 0


def test_an_interrupted_cell_shows_what_was_recorded(run: Run) -> None:
    cell = "import signal\nnp.asarray(rows)\nsignal.raise_signal(signal.SIGINT)\nnp.asarray(rows, int)"
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        result, shown = run(f"%%inspect_trace -m numpy\n{cell}")
    finally:
        signal.signal(signal.SIGINT, before)
    assert isinstance(result.error_in_exec, KeyboardInterrupt)
    assert "np.asarray(rows)" in str(shown) and "np.asarray(rows, int)" not in str(shown)
    assert _native.calls_armed() == 0


def test_what_would_happen_to_an_object(shown: Shown) -> None:
    said = shown("%inspect rows --to numpy bytes")
    assert "numpy.asarray" in said and ("copies 8.0 kB" in said or "by rule" in said)


def test_the_last_expression_has_its_row(shown: Shown) -> None:
    """Though no name is bound to its value; whether it is displayed or not."""
    shown("import numpy as np\nx = np.arange(1000.0)")
    for end in ("", ";"):
        text = shown(f"%%inspect_trace\nx[::2]\nx[::2].copy(){end}")
        assert "4.0 kB copied by one line" in text and "2  x[::2].copy()" in text
