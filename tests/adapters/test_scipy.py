"""scipy.sparse on the real library: arrays of each format, duplicates, operators that are never applied."""

# SPDX-License-Identifier: MIT
import re
from typing import Any

import numpy as np
import pytest
from asking import Look

import inspector
from inspector.facts.unknown import Unknown

pytestmark = pytest.mark.libraries


def test_fewer_bytes_than_the_shape_says(sparse: Any, look: Look) -> None:
    x = sparse.random(1000, 1000, 0.01, format="csr", random_state=0)
    told = look(x)
    stored = x.data.nbytes + x.indices.nbytes + x.indptr.nbytes
    assert (told.state, told.logical_bytes, told.span_bytes) == ("virtual", 8_000_000, stored)
    assert look(x.T).layers[1].spans == told.layers[1].spans, "the transpose shares its data"


@pytest.mark.parametrize("form", ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"])
def test_every_format(sparse: Any, look: Look, form: str) -> None:
    for x in (sparse.eye(4).asformat(form), sparse.csr_array(np.eye(4)).asformat(form)):
        told = look(x)
        assert told.layers[0].what.startswith(f"{form}_") and told.layers[0].value == "computed"
        assert (form == "dok") == (len(told.layers) == 1)


def test_duplicates_are_pending_and_not_looked_for(sparse: Any, look: Look) -> None:
    x = sparse.coo_matrix(([1, 2], ([0, 0], [0, 0])))
    assert look(x).layers[0].evidence[0].says == "may be there: their sum is pending"
    fresh = sparse.csr_matrix(([1.0, 2.0], [0, 0], [0, 2]), shape=(1, 1))
    before = set(vars(fresh))
    look(fresh)
    assert set(vars(fresh)) == before, "has_canonical_format would leave its answer in the matrix"
    x.sum_duplicates()
    assert look(x).layers[0].evidence[0].says == "none"


def test_an_operator_is_a_recipe(sparse: Any, look: Look) -> None:
    from scipy.sparse.linalg import LinearOperator, aslinearoperator

    class Counted(LinearOperator):  # type: ignore[misc]
        applied = 0

        def _matvec(self, x: Any) -> Any:
            Counted.applied += 1
            return x

    one = aslinearoperator(sparse.eye(4))
    product = one @ Counted(float, (4, 4))
    Counted.applied = 0
    assert look(product).state == "lazy" and look(product).waits_for == "matvec()"
    assert Counted.applied == 0


def test_empty_and_lying_ones(sparse: Any, look: Look) -> None:
    assert look(sparse.csr_matrix((0, 3))).logical_bytes == 0

    class Lying(sparse.csr_matrix):  # type: ignore[misc, name-defined]
        @property
        def data(self) -> Any:
            raise AssertionError("asked")

    assert isinstance(inspector.materialization(Lying.__new__(Lying)).state, Unknown)


def test_whose_the_arrays_of_a_matrix_are(sparse: Any, look: Look) -> None:
    mine, ends = np.ones(3), np.array([0, 1, 2, 3], "i4")
    x = sparse.csr_matrix((mine, np.array([0, 1, 2], "i4"), ends), copy=False)
    titles = {layer.what.split()[0]: layer.title for layer in look(x).layers if layer.level == "buffer"}
    assert titles == {"data": "foreign", "indices": "owned", "indptr": titles["indptr"]}
    fresh = {layer.title for layer in look(sparse.random(50, 50, 0.5, "csr", random_state=0)).layers}
    assert fresh == {"owned"}


def test_the_first_sentence_on_a_sparse_matrix(sparse: Any) -> None:
    x = sparse.random(1000, 1000, 0.01, "csr", random_state=0)

    def first(x: Any) -> str:
        return inspector.inspect(x, name="x").answers.rows[0].text

    assert first(x) == (
        "Has 124 kB in 3 blocks: `data`, `indices` and `indptr`; as one dense array it would be 8.0 MB."
    )
    assert first(x.tolil()).endswith("`rows`; the Python objects that its pointers lead to are extra.")
    wide = sparse.coo_matrix((np.ones(3), ([0, 50, 99], [99, 50, 0])), (100, 100)).todia()
    full = sparse.csr_matrix(np.ones((4, 4))).todia()
    assert "as one dense array it would be 80 kB" in first(wide)
    assert first(full).endswith("as one dense array it would be only 128 B.")
    assert re.fullmatch(r"[\d.]+ kB in all\.", first(x[:100, :100].todok()))


def test_one_matrix_in_two_formats_is_not_called_different(sparse: Any) -> None:
    """Its arrays hold the same elements in another order."""
    x = sparse.random(20, 20, 0.3, format="csr", random_state=1)
    said = str(inspector.compare(x, x.tocsc()))
    assert "No byte in common." in said and "different values" not in said
    assert "equal values" in str(inspector.compare(x, x.copy()))
