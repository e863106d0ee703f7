"""`%%inspect_leaks`: the faults of a cell, its errors kept, its words refused in one sentence."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable
from typing import Any

import pytest
import specimens
from leak_corpus import SOURCE

from inspector import _native

pytestmark = pytest.mark.core
Shown = Callable[[str], str]
LEAKS = "%%inspect_leaks -m leak_corpus"


@pytest.fixture(autouse=True)
def corpus(shell: Any) -> None:
    specimens.build("leak_corpus", SOURCE)
    shell.run_cell("import leak_corpus")


@pytest.mark.quick
def test_a_cell_shows_its_faults(shown: Shown, shell: Any) -> None:
    said = shown(f"{LEAKS}\nleak_corpus.without_the_gil(1)")
    assert shell.last_execution_result.success
    assert "leak_corpus.without_the_gil called PyLong_FromLong without the GIL" in said and "certain" in said


@pytest.mark.quick
def test_what_every_run_shows(shown: Shown) -> None:
    said = shown(f"{LEAKS} --repeat 2\nleak_corpus.without_the_gil(1)")
    assert "again in each of 2 runs" in " ".join(said.split())


def test_a_certain_leak_is_read_a_second_time(shown: Shown) -> None:
    """200 runs more leave nothing of what only the first ten lose."""
    shown("import gc\ngc.freeze()\nleft = 10")
    cell = "left -= 1\nif left > 0: leak_corpus.value_not_released({})"
    said = shown(f"{LEAKS} --repeat 2 --confirm\n{cell}")
    shown("gc.unfreeze()")
    assert "but 200 further calls left nothing of it" in " ".join(said.split())


@pytest.mark.quick
def test_an_error_in_the_cell_is_the_cells_own(run: Any) -> None:
    result, _ = run(f"{LEAKS}\nleak_corpus.tuple_set_item(1)\n1 / 0")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert _native.calls_armed() == 0


@pytest.mark.quick
def test_a_copy_of_the_process_runs_the_cell(shown: Shown, shell: Any) -> None:
    said = shown(f"{LEAKS} --repeat 3 --isolate\nchanged = 1\nleak_corpus.without_the_gil(1)")
    assert "without_the_gil called PyLong_FromLong without the GIL" in said
    assert "again in each of 3 runs" in " ".join(said.split())
    assert "changed" not in shell.user_ns  # it was lost with the copy


def test_a_cache_that_grows_is_told_by_line_and_run(shown: Shown) -> None:
    """No call of native code is at fault, and the process grows all the same."""
    shown("kept, numbers = [], iter(range(10**6))")
    said = " ".join(
        shown("%%inspect_leaks --repeat 2\nkept.append('x%d' % next(numbers) * 1_000_000)").split()
    )
    shown("del kept")
    assert "'x%d' % next(numbers) * 1_000_000 in line 1 asked for " in said and "MB a run" in said
