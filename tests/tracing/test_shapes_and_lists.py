"""What allocates reads no argument, what converts a list reads all of it: told apart by values, not by names.

The second method: the call again with another list of the same length. Where the result's elements follow
the list's, it was read.
"""

# SPDX-License-Identifier: MIT
import array  # noqa: F401 - for LISTS
from typing import Any

import numpy as np
import one_line
import pytest

import inspector

pytestmark = pytest.mark.core
N = 2048
GENERATOR = np.random.default_rng(0)

ALLOCATING = (
    "np.empty((2, N))", "np.empty([2, N])", "np.empty((np.int64(2), np.int64(N)))", "np.empty((N,))",
    "np.zeros((2, N))", "np.zeros(N)", "np.zeros((2, 2, N), 'i4')", "np.ones((N, 2))", "np.ones((1, N))",
    "np.full((2, N), 7.0)", "np.full((4, 4), 4.0)", "np.full((3,), 3.0)", "np.arange(N)",
    "np.linspace(0, 1, N)", "np.eye(64)", "np.identity(64)", "np.ndarray((2, N))", "bytearray(N)", "bytes(N)",
    "GENERATOR.random((2, N))", "np.indices((64, 64))",
)  # fmt: skip
LISTS = (
    "np.array(items)", "np.array(tuple(items))", "np.asarray(items, 'f8')", "np.array(items, 'i2')",
    "np.array([items, items])", "np.array((tuple(items), tuple(items)))", "bytes(items)", "bytearray(items)",
    "array.array('d', items)", "np.concatenate([items, items])", "np.array([np.int64(one) for one in items])",
)  # fmt: skip


def fresh(trace: Any) -> dict[str, set[str]]:
    """Function -> verdicts of the memory that it gave."""
    found: dict[str, set[str]] = {}
    for copy in trace.fact.copies:
        if copy.copied_bytes >= 3:
            found.setdefault(copy.function.rpartition(".")[2], set()).add(copy.verdict)
    return found


@pytest.mark.parametrize("expression", ALLOCATING)
def test_memory_that_holds_no_argument_is_made(expression: str) -> None:
    with inspector.trace("numpy") as t:
        result = eval(expression)
    assert len(result)
    assert t.copies == (), [(copy.function, copy.source) for copy in t.copies]
    assert any("made" in verdicts for verdicts in fresh(t).values())


@pytest.mark.parametrize("items", [[1, 2, 3], [3, 1, 2] * 400], ids=["short", "long"])
@pytest.mark.parametrize("expression", LISTS)
def test_a_list_that_was_read_is_copied(expression: str, items: list[int]) -> None:
    operation = eval(f"lambda items: {expression}")
    with inspector.trace("numpy") as t:
        result = operation(items)
    later = operation([item + 1 for item in items])
    assert (np.array(list(later)) - np.array(list(result)) == 1).all()
    size = len(result) if isinstance(result, bytes | bytearray) else memoryview(result).nbytes
    assert max(copy.copied_bytes for copy in t.copies) == size
    assert {copy.confidence for copy in t.copies} == {"by sample"}


def test_a_tuple_used_both_ways_in_one_call() -> None:
    pair = (2, N)
    with inspector.trace("numpy") as t:
        made, copied = np.empty(pair), np.array(pair)
    assert made.shape == pair == tuple(copied)
    assert fresh(t) == {"empty": {"made"}, "array": {"copied"}}


def test_what_is_selected_is_copied() -> None:
    numbers = np.random.default_rng(1).random(4096)
    for operation in (np.sort, lambda a: a.repeat(2), lambda a: a.take(range(0, 4096, 3)), np.flip):
        with inspector.trace("numpy") as t:
            result = operation(numbers)
        if not np.shares_memory(result, numbers):
            assert set(result.tolist()) <= set(numbers.tolist())
            assert max(copy.copied_bytes for copy in t.copies) >= result.nbytes


def test_a_square_matrix_transposed_is_not_taken_for_itself() -> None:
    matrix = np.random.default_rng(2).random((64, 64))
    with inspector.trace("numpy") as t:
        np.einsum("ij->ji", matrix).copy()
        np.matmul(matrix, matrix)
    assert [copy.verdict for copy in t.fact.copies if copy.function.endswith("matmul")] == ["computed"]


@pytest.mark.parametrize("line", ["r = list(x)", "r = tuple(x)", "r = [n for n in x]"])
def test_a_list_of_numbers_of_numpy_is_a_copy(line: str) -> None:
    t = one_line.traced("x = np.random.default_rng(1).random(300)", line, {"np": np})
    found = one_line.row(t)
    assert (found.verdict, found.of, found.copied_bytes) == ("copied", "x", 2400)
    assert (
        one_line.row(one_line.traced("x = np.arange(300.)", "r = list(x + 1)", {"np": np})).verdict
        != "copied"
    )
