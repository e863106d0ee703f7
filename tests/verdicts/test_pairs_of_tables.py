"""Answers about tables and arrays of several libraries: which columns share, and what a write really does."""

# SPDX-License-Identifier: MIT
from typing import Any

import numpy as np
import pytest

import inspector

pd = pytest.importorskip("pandas", reason="cannot be installed here")
pa = pytest.importorskip("pyarrow", reason="cannot be installed here")


def first(a: Any, b: Any) -> str:
    return inspector.compare(a, b, names=("a", "b")).answers[0].text


def frame() -> Any:
    return pd.DataFrame({"x": np.arange(5.0), "y": np.arange(5), "z": list("abcde")})


COPIES = "the first write to either copies (copy-on-write), and the other keeps its values."


@pytest.mark.quick
def test_columns_one_by_one() -> None:
    a = frame()
    b = a.copy(deep=False)
    assert first(a, b) == f"All 3 columns share. All 133 B belong to both; {COPIES}"
    b["y"] = 1.5
    assert first(a, b) == f"Columns `x` and `z` share, `y` does not. 93 B belong to both; {COPIES}"
    b = a[["x"]]
    assert first(a, b).startswith("Column `x` shares, `y` and `z` do not. 40 B belong to both")
    deep = pd.DataFrame({"x": np.arange(3.0)})
    assert first(deep, deep.copy()).startswith("No byte in common")
    assert first(a, a["y"]).startswith('`b` shares the memory of `a["y"]`. 40 B belong to both')


@pytest.mark.quick
def test_values_of_copied_columns() -> None:
    a = frame()[["x", "y"]].copy()
    b = a.copy()
    assert first(a, b) == "No byte in common; equal values in all 2 columns."
    b.loc[3, "y"] = 17
    assert first(a, b) == "No byte in common; different values: column `y`, first at `[3]`, 3 and 17."
    table = pa.table({"x": [1.0, 2.0], "t": ["u", "v"]})
    again = pa.table({"x": [1.0, 2.0], "t": ["u", "v"]})
    assert first(table, again) == "No byte in common; equal values in all 2 columns."
    other = pa.table({"x": [1.0, 2.0], "t": ["u", "w"]})
    assert first(table, other) == "No byte in common; equal values in `x`; `t` was not compared."
    assert first(a, a[["x"]].copy()) == "No byte in common; `a` has 2 columns, `b` 1."


@pytest.mark.quick
def test_codes_are_no_values() -> None:
    """The same codes under other categories are other values: nothing is said of them."""
    a, b = (pd.Series(list(text), dtype="category") for text in ("uv", "xy"))
    assert first(a, b) == "No byte in common."
    assert first(a.to_frame("k"), b.to_frame("k")) == "No byte in common."
    assert first(pd.Series([1.0, 2.0]), pd.Series([1.0, 2.0])) == "No byte in common; equal values."
    masked = np.ma.masked_array(np.arange(3.0), [0, 1, 0])
    assert first(masked, np.arange(3.0)) == "No byte in common."


def test_a_wide_frame_is_told_by_the_smaller_one() -> None:
    a = pd.DataFrame(np.zeros((3, 100)))
    assert first(a, a.iloc[:, :3]).startswith("All 3 columns of `b` share with `a`. 72 B belong to both")


@pytest.mark.quick
def test_copy_on_write_keeps_the_values_of_the_other() -> None:
    a = frame()
    b = a.copy(deep=False)
    assert COPIES in first(a, b)
    b.loc[0, "x"] = 99.0
    b.loc[0, "z"] = "changed"
    assert a.loc[0, "x"] == 0.0 and a.loc[0, "z"] == "a"
    assert "share" not in first(a["x"], b["x"]).partition(".")[0]


@pytest.mark.quick
def test_an_array_under_a_series_sees_its_writes() -> None:
    a = np.arange(5.0)
    b = pd.Series(a, copy=False)
    assert first(a, b).endswith("a write through one is seen in the other.")
    a[0], b.iloc[1] = 50.0, 51.0
    assert b.iloc[0] == 50.0 and a[1] == 51.0


@pytest.mark.quick
def test_an_array_of_a_series_is_read_only_and_sees_its_writes() -> None:
    a = pd.Series(np.arange(5.0))
    b = np.asarray(a)
    said = "`b` is a view of `a`. All 40 B belong to both; writing to `a` changes `b`, and `b` is read-only."
    assert first(a, b) == said
    assert inspector.compare(a, b, names=("a", "b")).answers[1].text == "`b[i]` is `a.iloc[i]`."
    a.iloc[2] = 52.0
    assert b[2] == 52.0


def test_an_array_of_a_frame_sees_its_writes() -> None:
    a = pd.DataFrame(np.arange(12.0).reshape(3, 4))
    b = a.to_numpy()
    assert first(a, b).startswith("`b` is a view of `a`. All 96 B belong to both; writing to `a` changes `b`")
    a.iloc[0, 0] = 99.0
    assert b[0, 0] == 99.0


@pytest.mark.quick
def test_arrow_and_its_sources() -> None:
    a = np.arange(5.0)
    b = pa.array(a)
    assert first(a, b).endswith("writing to `a` changes `b`, and `b` is read-only.")
    a[0] = 42.0
    assert b[0].as_py() == 42.0
    table = pa.table({"x": b, "k": [1, 2, 3, 4, 5]})
    assert first(table, table.select(["x"])).startswith("Column `x` shares, `k` does not.")
    assert first(table, a).startswith('`b` shares the memory of `a["x"]`.')
    assert first(table, table.slice(1, 2)).endswith("both are read-only.")
