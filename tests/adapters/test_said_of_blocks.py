"""What is said of objects whose blocks others show too, or keep something else than the elements."""

# SPDX-License-Identifier: MIT
from typing import Any

import numpy as np
import pandas as pd
import pytest

import inspector

pytestmark = pytest.mark.libraries


def said(x: Any, name: str = "x") -> str:
    return " ".join(row.text for row in inspector.inspect(x, name=name).answers.rows)


def head(x: Any) -> str:
    return " ".join(str(inspector.inspect(x, name="x")).split("\n")[0].split())


def test_a_polars_slice_names_its_frame() -> None:
    pl = pytest.importorskip("polars", reason="cannot be installed on this Python")
    whole = pl.DataFrame({"a": range(100_000), "b": [1.5] * 100_000})
    assert "100 rows × 2 columns, 1.6 kB, shared with `whole`." in said(whole.head(100))
    assert said(whole["a"][5:10]).startswith("Shares its 40 B with `whole['a']`.")
    assert "shared with" not in said(whole.filter(pl.col("a") % 2 == 0))
    own = whole["a"].to_list()
    assert "whose they are is not known" in said(pl.Series(own))


def test_a_transposed_sparse_matrix_names_its_source() -> None:
    sparse = pytest.importorskip("scipy.sparse", reason="cannot be installed on this Python")
    matrix = sparse.random(100, 100, 0.1, "csr", random_state=np.random.default_rng(1))
    turned = matrix.T
    text = said(turned, "turned")
    assert ", shared with `matrix`;" in text
    assert "Writing to `turned` changes `matrix`." in text
    turned.data[0] = 77
    assert 77 in matrix.data
    assert "shared with" not in said(turned.copy())


def test_an_element_of_a_structured_array_is_a_view() -> None:
    table = np.zeros(10, [("a", "i4"), ("b", "f8")])
    row = table[2]
    assert said(row, "row").startswith("A view of `table`: element 2. Writing to `row` changes `table`.")
    row["a"] = 5
    assert table["a"][2] == 5
    assert said(np.void(b"abcd")) == "Owns its 4 B."


@pytest.mark.parametrize(
    ("series", "title"),
    [
        (lambda: pd.Series(["a", "b"] * 3, dtype="category"), "Series category (6,)"),
        (lambda: pd.Series([1, None], dtype="Int64"), "Series Int64 (2,)"),
        (lambda: pd.Series(pd.arrays.SparseArray([0, 0, 1])), "Series Sparse[int64, 0] (3,)"),
        (lambda: pd.CategoricalIndex(["a", "b"]), "CategoricalIndex category (2,)"),
        (lambda: pd.DataFrame({"c": pd.Categorical(["a", "b"])}), "DataFrame (1 column)"),
        (lambda: pd.Series([1, 2]), "Series int64 (2,)"),
    ],
)
def test_the_head_shows_the_type_that_pandas_shows(series: Any, title: str) -> None:
    x = series()
    assert head(x).startswith(f"x {title}")


def test_codes_are_not_shown_as_values() -> None:
    x = pd.Series(["a", "b"] * 3, dtype="category")
    assert "values" not in str(inspector.inspect(x, name="x"))
    assert said(x) == "Owns its 6 B of codes for 2 categories."
