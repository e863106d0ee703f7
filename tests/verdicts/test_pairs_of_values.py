"""Answers about two numbers, two functions, and a BytesIO beside its bytes."""

# SPDX-License-Identifier: MIT
import io
import math
from typing import Any

import numpy as np
import pytest

import inspector

pytestmark = pytest.mark.core
TEXT = bytes(range(200))


def first(a: Any, b: Any) -> str:
    return inspector.compare(a, b, names=("a", "b")).answers[0].text


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        (1, 1.0, "An int and a float with equal values."),
        (np.float64(3.5), np.float64(3.5), "Two float64 objects with equal values."),
        (np.int16(3), 4, "An int16 and an int with different values: 3 and 4."),
        (np.float32(0.1), 0.1, "A float32 and a float with different values"),
        (math.nan, np.float64("nan"), "A float and a float64 with equal values."),
        (complex(1, math.nan), complex(1, math.nan), "Two complex objects with equal values."),
        (complex(1, math.nan), complex(2, math.nan), "Two complex objects with different values"),
        (math.nan, 1.0, "Two float objects with different values: nan and 1.0."),
        (range(9), range(0, 9), "Two range objects with equal values."),
        (range(9), range(8), "Two range objects with different values: range(0, 9) and range(0, 8)."),
    ],
)
def test_numbers_of_two_types_are_compared(a: Any, b: Any, said: str) -> None:
    assert first(a, b).startswith(said)


def test_a_bytesio_copies_before_its_bytes_change() -> None:
    shared = io.BytesIO(TEXT)
    assert "the first write to `a` copies" in first(shared, TEXT).lower()
    shared.write(b"x")
    assert TEXT[0] == 0 and first(shared, TEXT).startswith("No byte in common")


def test_functions_of_other_code_are_not_equal() -> None:
    def one() -> int:
        return 1

    assert "the first difference is at `a.__code__`" in first(one, lambda: 2)
    made = [lambda n=n: n for n in (5, 5)]
    assert "with equal attributes" in first(*made)
