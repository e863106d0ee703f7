"""The part of its base that a view shows, in words, for strides written by NumPy."""

# SPDX-License-Identifier: MIT
import numpy as np
import pytest

from inspector.verdicts.answers.index import Grid, part_of

pytestmark = [pytest.mark.core, pytest.mark.quick]

A = np.zeros((1000, 1000))
LINE = np.zeros(100, "i4")
CUBE = np.zeros((4, 5, 6))


def grid(x: np.ndarray) -> Grid:
    return Grid(x.__array_interface__["data"][0], x.shape, x.strides, x.itemsize)


CASES = [
    (A, A[::2, ::3].T, "every 2nd row and every 3rd column, transposed"),
    (A, A[3], "row 3"),
    (A, A[:, 7], "column 7"),
    (A, A[2:5], "rows 2 to 4"),
    (A, A[1::2], "every 2nd row from 1"),
    (A, A[:500:2], "every 2nd row from 0 to 498"),
    (A, A[::-1], "rows reversed"),
    (A, A[10:5:-1], "rows 10 down to 6"),
    (A, A[::-2], "every 2nd row from 999 down to 1"),
    (A, A[3, 4:6], "row 3 and columns 4 to 5"),
    (A, A.T, "transposed"),
    (A, A.reshape(-1), "reshaped to (1000000,)"),
    (A, A[2:4].reshape(-1), "elements 2,000 to 3,999"),
    (A, A[:], ""),
    (A, A[None, :, :], ""),
    (A, np.diagonal(A), ""),
    (A, A.view("i4"), ""),
    (LINE, LINE[10:20], "elements 10 to 19"),
    (LINE, LINE[20:32].reshape(3, 4).T, "elements 20 to 31, reshaped to (3, 4), transposed"),
    (LINE, LINE[::11], "every 11th element"),
    (LINE, LINE[5:6], "element 5"),
    (LINE, np.broadcast_to(LINE, (3, 100)), "repeated 3 times"),
    (CUBE, CUBE[1], "index 1 of axis 0"),
    (CUBE, CUBE.transpose(2, 0, 1), "its axes in the order 2, 0, 1"),
    (CUBE, CUBE[:, 1:3], "indices 1 to 2 of axis 1"),
    (CUBE, CUBE[:, ::-1], "indices of axis 1 reversed"),
    (CUBE, CUBE[..., ::2], "every 2nd index of axis 2"),
]


@pytest.mark.parametrize(("base", "view", "words"), CASES)
def test_words(base: np.ndarray, view: np.ndarray, words: str) -> None:
    assert part_of(grid(view), grid(base)) == words


def test_every_basic_index_is_either_right_or_not_said() -> None:
    """The words of a slice name its first row, its step and its last row."""
    for start in range(0, 9):
        for step in (-3, -1, 1, 2, 4):
            for stop in (None, *range(0, 9)):
                rows = np.arange(9)[start:stop:step]
                base = np.zeros((9, 3))
                words = part_of(grid(base[start:stop:step]), grid(base))
                if len(rows) == 0:
                    assert words == ""
                elif len(rows) == 1:
                    assert words == f"row {rows[0]}"
                elif words and "every" not in words and "reversed" not in words:
                    down = "down " if step < 0 else ""
                    assert words == f"rows {rows[0]} {down}to {rows[-1]}"
                elif words == "rows reversed":
                    assert list(rows) == list(range(8, -1, -1))


def test_a_base_with_gaps_has_no_words() -> None:
    gaps = A[::2]
    assert part_of(grid(gaps[::2]), grid(gaps)) == ""
