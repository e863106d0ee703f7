"""Arithmetic of shapes and strides: the steps of C order, contiguity, and an ordinal for a step."""

# SPDX-License-Identifier: MIT
from math import prod

Integers = tuple[int, ...]


def dense(shape: Integers, itemsize: int) -> Integers:
    """Strides of C order, without gaps."""
    return tuple(itemsize * prod(shape[axis + 1 :]) for axis in range(len(shape)))


def is_contiguous(shape: Integers, strides: Integers, itemsize: int, order: str) -> bool:
    """Whether elements are without gaps in C ("C") or Fortran ("F") order (NumPy's relaxed rule:
    axes of length 1 do not count, and an empty array is both)."""
    if 0 in shape:
        return True
    turn = 1 if order == "C" else -1
    steps = dense(shape[::turn], itemsize)[::turn]
    return all(n == 1 or stride == step for n, stride, step in zip(shape, strides, steps, strict=True))


def ordinal(n: int) -> str:
    """ "2nd", "1,003rd"."""
    suffix = "th" if 10 <= n % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n:,}{suffix}"
