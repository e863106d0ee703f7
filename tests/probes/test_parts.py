"""The columns of a DataFrame: where each one's bytes are, in which block, and who else has them."""

# SPDX-License-Identifier: MIT
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import inspector
from inspector.facts.unknown import Unknown

pytestmark = [pytest.mark.core, pytest.mark.quick]


def rows(frame: pd.DataFrame) -> dict[str, Any]:
    return {part.name: part for part in inspector.inspect(frame).parts.parts}


def test_columns_of_several_blocks(fingerprint: Callable[[object], Any]) -> None:
    frame = pd.DataFrame({"a": [1.0, 2, 3], "b": [1, 2, 3], "c": [4.0, 5, 6], "k": pd.Categorical([*"uvu"])})
    before = fingerprint(frame)
    report = inspector.inspect(frame)
    assert fingerprint(frame) == before
    found = {part.name: part for part in report.parts.parts}
    assert list(found) == ["a", "b", "c", "k"], "in the order of the frame, not of its blocks"
    assert [found[name].format for name in found] == ["float64", "int64", "float64", "category"]
    assert [found[name].bytes for name in "abck"] == [24, 24, 24, 3], "the codes of a category once"
    assert found["a"].block == found["c"].block != found["b"].block
    assert (report.parts.total, report.parts.blocks) == (4, 3 if found["a"].block == found["c"].block else 4)
    assert "columns" in report.to_text() and "category" in report.to_text()
    assert "in 3 blocks" in report.drawn(everything=True).to_text()


def test_the_step_is_that_of_the_block() -> None:
    square = pd.DataFrame(np.arange(12.0).reshape(4, 3), columns=list("abc"))
    column = square["a"].to_numpy()
    assert rows(square)["a"].step_bytes == column.strides[0]


def test_an_array_that_the_user_has_is_named_as_sharer() -> None:
    prices = np.arange(5.0)
    frame = pd.DataFrame({"p": prices}, copy=False)
    report = inspector.inspect(frame, known={id(prices): "prices"})
    assert np.shares_memory(frame["p"].to_numpy(), prices)
    assert report.parts.parts[0].owner_name == "prices"
    assert "prices" in report.drawn(width=100).to_text().partition("columns")[2]


def test_another_frame_is_counted_until_a_write() -> None:
    frame = pd.DataFrame({"a": [1.0, 2]})
    alone = rows(frame)["a"].holders
    other = frame[:]
    assert (alone, rows(frame)["a"].holders, len(other)) == (1, 2, 2)
    assert "1 more until a write" in inspector.inspect(frame).drawn(everything=True).to_text()


def test_a_million_columns_cost_as_much_as_forty() -> None:
    wide = pd.DataFrame(np.zeros((2, 1_000_000), "i1"))
    inspector.inspect(wide)
    start = time.perf_counter()
    found = inspector.inspect(wide).parts
    spent = time.perf_counter() - start
    assert (found.total, found.blocks, len(found.parts)) == (1_000_000, 1, 40)
    assert [part.name for part in found.parts[:2]] == ["0", "1"]
    assert spent < 2, "listing a million labels takes longer than that"
    assert len(inspector.inspect(wide).to_text()) < 4096


def test_what_is_no_table_has_no_such_column() -> None:
    for x in (np.ones(3), pd.Series([1.0]), [1], pd.DataFrame):
        assert "parts" not in inspector.inspect(x).facts
    empty = inspector.inspect(pd.DataFrame()).parts
    assert not isinstance(empty, Unknown) and (empty.total, empty.parts) == (0, ())
