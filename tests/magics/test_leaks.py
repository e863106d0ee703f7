"""`%%inspect_leaks`: the faults of a cell, its errors kept, its words refused in one sentence."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import specimens
from leak_corpus import SOURCE

from inspector import _native

pytestmark = [pytest.mark.core, pytest.mark.quick]
Run = Callable[[str], tuple[Any, list[dict[str, str]]]]


@pytest.fixture(autouse=True)
def corpus(shell: Any) -> None:
    specimens.build("leak_corpus", SOURCE)
    shell.run_cell("import leak_corpus")


def text(bundles: list[dict[str, str]]) -> str:
    return "\n".join(bundle["text/plain"] for bundle in bundles)


def test_a_cell_shows_its_faults(run: Run) -> None:
    result, shown = run("%%inspect_leaks -m leak_corpus\nleak_corpus.without_the_gil(1)")
    assert result.success
    assert "C-API call without the GIL" in text(shown) and "certain" in text(shown)
    assert "PyLong_FromLong" in text(shown)


def test_what_every_run_shows(run: Run) -> None:
    _, shown = run("%%inspect_leaks -m leak_corpus --repeat 2\nleak_corpus.without_the_gil(1)")
    assert "again in each of 2 runs" in " ".join(text(shown).split())


def test_an_error_in_the_cell_is_the_cells_own(run: Run) -> None:
    result, _ = run("%%inspect_leaks -m leak_corpus\nleak_corpus.tuple_set_item(1)\n1 / 0")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert _native.calls_armed() == 0


@pytest.mark.parametrize(
    ("line", "slug"),
    [
        ("-m nothing_of_that_name", "unknown-module"),
        ("--repeat many", "bad-option"),
        ("--repeat 0", "bad-option"),
        ("--repeat -2", "bad-option"),
        ("--isolate", "bad-option"),
    ],
)
def test_what_cannot_be_watched_is_one_block(run: Run, line: str, slug: str) -> None:
    _, shown = run(f"%%inspect_leaks {line}\npass")
    assert slug in text(shown)


def test_a_copy_of_the_process_runs_the_cell(run: Run, shell: Any) -> None:
    cell = "%%inspect_leaks -m leak_corpus --repeat 3 --isolate\nchanged = 1\nleak_corpus.without_the_gil(1)"
    _, shown = run(cell)
    assert "C-API call without the GIL" in text(shown) and "again in each of 3 runs" in " ".join(
        text(shown).split()
    )
    assert "changed" not in shell.user_ns  # it was lost with the copy
