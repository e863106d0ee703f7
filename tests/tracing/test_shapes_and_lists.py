"""What allocates reads no argument, what converts a list reads all of it: told apart by values, not by names.

The second method: the call again with another list of the same length. Where the result's elements follow
the list's, it was read.
"""

# SPDX-License-Identifier: MIT
import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import inspector

pytestmark = pytest.mark.core
N = 2048
GENERATOR = np.random.default_rng(0)

ALLOCATING: dict[str, Callable[[], Any]] = {
    "empty tuple": lambda: np.empty((2, N)),
    "empty list": lambda: np.empty([2, N]),
    "empty of numpy ints": lambda: np.empty((np.int64(2), np.int64(N))),
    "empty one axis": lambda: np.empty((N,)),
    "zeros": lambda: np.zeros((2, N)),
    "zeros of an int": lambda: np.zeros(N),
    "zeros of three axes": lambda: np.zeros((2, 2, N), "i4"),
    "ones": lambda: np.ones((N, 2)),
    "ones of one": lambda: np.ones((1, N)),
    "full": lambda: np.full((2, N), 7.0),
    "full of its own extent": lambda: np.full((4, 4), 4.0),
    "full of one extent": lambda: np.full((3,), 3.0),
    "arange": lambda: np.arange(N),
    "linspace": lambda: np.linspace(0, 1, N),
    "eye": lambda: np.eye(64),
    "identity": lambda: np.identity(64),
    "ndarray": lambda: np.ndarray((2, N)),
    "bytearray": lambda: bytearray(N),
    "bytes": lambda: bytes(N),
    "random": lambda: GENERATOR.random((2, N)),
    "indices": lambda: np.indices((64, 64)),
}

LISTS: dict[str, Callable[[list[Any]], Any]] = {
    "array": lambda items: np.array(items),
    "array of a tuple": lambda items: np.array(tuple(items)),
    "asarray as floats": lambda items: np.asarray(items, "f8"),
    "array of narrow ints": lambda items: np.array(items, "i2"),
    "nested": lambda items: np.array([items, items]),
    "nested tuples": lambda items: np.array((tuple(items), tuple(items))),
    "bytes": lambda items: bytes(items),
    "bytearray": lambda items: bytearray(items),
    "array.array": lambda items: array.array("d", items),
    "concatenate": lambda items: np.concatenate([items, items]),
    "numpy's own ints": lambda items: np.array([np.int64(item) for item in items]),
}


def fresh(trace: Any) -> dict[str, set[str]]:
    """Function -> verdicts of the memory that it gave."""
    found: dict[str, set[str]] = {}
    for copy in trace.fact.copies:
        if copy.copied_bytes >= 3:
            found.setdefault(copy.function.rpartition(".")[2], set()).add(copy.verdict)
    return found


@pytest.mark.parametrize("name", ALLOCATING)
def test_memory_that_holds_no_argument_is_made(name: str) -> None:
    with inspector.trace("numpy") as t:
        result = ALLOCATING[name]()
    assert len(result)
    assert t.copies == (), [(copy.function, copy.source) for copy in t.copies]
    assert any("made" in verdicts for verdicts in fresh(t).values())


@pytest.mark.parametrize("items", [[1, 2, 3], [3, 1, 2] * 400], ids=["short", "long"])
@pytest.mark.parametrize("name", LISTS)
def test_a_list_that_was_read_is_copied(name: str, items: list[int]) -> None:
    operation = LISTS[name]
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
