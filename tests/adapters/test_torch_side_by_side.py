"""Tensors and arrays beside each other: views, copies, and where each element lies."""

# SPDX-License-Identifier: MIT
from typing import Any

import numpy as np
import pytest

import inspector

torch = pytest.importorskip("torch", reason="cannot be installed here")
pytestmark = pytest.mark.libraries


def texts(a: Any, b: Any) -> list[str]:
    return [row.text for row in inspector.compare(a, b, names=("a", "b")).answers]


def test_a_tensor_over_an_array() -> None:
    a = np.arange(12.0).reshape(3, 4).copy()
    b = torch.from_numpy(a)
    said = "`b` is a view of `a`. All 96 B belong to both; a write through one is seen in the other."
    assert texts(a, b) == [said, "`b[i, j]` is `a[i, j]`."]
    b[1, 2] = 50.0
    assert a[1, 2] == 50.0
    assert texts(a, b[::2, 1:])[1] == "`b[i, j]` is `a[2*i, j + 1]`."
    assert texts(b, b.T)[1] == "`b[i, j]` is `a[j, i]`."


def test_a_flattened_tensor_is_a_copy() -> None:
    a = torch.arange(12.0).reshape(3, 4)
    (said,) = texts(a, a.T.reshape(-1))
    assert said == (
        "No byte in common: `b` is a copy: `a.T` flattened, equal values. "
        "`a.T` is not contiguous, so flattening it copies 48 B."
    )
    assert texts(a, a.view(-1))[1] == "`b[i]` is `a[i // 4, i % 4]`."
