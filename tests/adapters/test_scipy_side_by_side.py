"""Two sparse matrices beside each other: which of their arrays share."""

# SPDX-License-Identifier: MIT
from typing import Any

import pytest

import inspector

scipy_sparse = pytest.importorskip("scipy.sparse", reason="cannot be installed here")
pytestmark = pytest.mark.libraries


def first(a: Any, b: Any) -> str:
    return inspector.compare(a, b, names=("a", "b")).answers[0].text


def test_arrays_one_by_one() -> None:
    a = scipy_sparse.eye_array(10, format="csr")
    b = scipy_sparse.csr_array((a.data * 2, a.indices, a.indptr), shape=a.shape, copy=False)
    assert first(a, b).startswith("Arrays `indices` and `indptr` share, `data` does not.")
    assert first(a, a.data).startswith("`b` is a view of `a.data`. 80 B belong to both")
    assert first(a, a.copy()) == "No byte in common; equal values in all 3 arrays."
