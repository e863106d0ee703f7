"""Verdicts on operations of several libraries, against a second method that knows nothing of the trace.

The second method changes the source in place and looks whether the result changes with it: bytes that do are
shared, bytes that do not were copied or made. It is run apart from the trace, on fresh objects.
"""

from __future__ import annotations

import array
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import inspector
from inspector.facts.unknown import Unknown
from inspector.tracing.allocations import LEAST_BYTES

COUNT = 4096
SCRATCH_BYTES = 256
Operation = Callable[[Any], Any]


def numbers() -> Any:
    return np.arange(1.0, COUNT + 1)


def matrix() -> Any:
    return np.arange(1.0, COUNT + 1).reshape(64, 64)


def octets() -> Any:
    return bytearray(range(256)) * 16


def words() -> Any:
    return array.array("d", range(1, COUNT + 1))


def change(source: Any) -> None:
    """Another value in every element of the source, in place, without moving it."""
    view = np.frombuffer(source, np.uint8) if not isinstance(source, np.ndarray) else source
    if isinstance(source, np.ndarray):
        source *= -1
    else:
        view ^= 0xFF


def content(result: Any) -> bytes:
    """The bytes of a result, read afresh."""
    if isinstance(result, pa.Array):
        return b"".join(bytes(part) for part in result.buffers() if part is not None)
    if isinstance(result, pd.Series | pd.DataFrame | pd.Index):
        return np.array(result, copy=True).tobytes()
    if isinstance(result, list | tuple):
        return repr(result).encode()
    return bytes(memoryview(result).tobytes()) if not isinstance(result, np.ndarray) else result.tobytes()


def shares_bytes(make: Callable[[], Any], operation: Operation) -> bool:
    """Whether the result changes when the source does."""
    source = make()
    result = operation(source)
    before = content(result)
    change(source)
    return content(result) != before


NUMPY: dict[str, Operation] = {
    "asarray": lambda a: np.asarray(a),
    "array": lambda a: np.array(a),
    "array copy=False": lambda a: np.array(a, copy=None),
    "ascontiguousarray": lambda a: np.ascontiguousarray(a),
    "astype f4": lambda a: a.astype("f4"),
    "astype same": lambda a: a.astype("f8"),
    "astype copy=False": lambda a: a.astype("f8", copy=False),
    "astype i8": lambda a: a.astype("i8"),
    "copy": lambda a: a.copy(),
    "reshape": lambda a: a.reshape(64, 64),
    "ravel": lambda a: a.ravel(),
    "flatten": lambda a: a.flatten(),
    "view": lambda a: a.view("u8"),
    "concatenate": lambda a: np.concatenate([a, a]),
    "repeat": lambda a: a.repeat(2),
    "take": lambda a: a.take(range(0, COUNT, 2)),
    "frombuffer": lambda a: np.frombuffer(a),
    "squeeze": lambda a: a.squeeze(),
    "swapaxes": lambda a: a.reshape(64, 64).swapaxes(0, 1),
    "tobytes": lambda a: a.tobytes(),
    "sort": lambda a: np.sort(a),
    "memoryview": lambda a: memoryview(a),
    "bytes": lambda a: bytes(a),
    "bytearray": lambda a: bytearray(a),
    "negative": lambda a: np.negative(a),
    "add": lambda a: a + 1,
    "clip": lambda a: a.clip(0, 10),
}
MATRIX: dict[str, Operation] = {
    "transpose": lambda m: m.transpose(),
    "contiguous of T": lambda m: np.ascontiguousarray(m.T),
    "asfortranarray": lambda m: np.asfortranarray(m),
    "ravel of T": lambda m: m.T.ravel(),
    "ravel F of T": lambda m: m.T.ravel(order="F"),
    "reshape of T": lambda m: m.T.reshape(-1),
    "diagonal": lambda m: m.diagonal(),
    "strided copy": lambda m: m[:, ::2].copy(),
    "strided asarray": lambda m: np.asarray(m[:, ::2]),
    "cumsum": lambda m: m.cumsum(),
}
OCTETS: dict[str, Operation] = {
    "bytes": lambda b: bytes(b),
    "bytearray": lambda b: bytearray(b),
    "memoryview": lambda b: memoryview(b),
    "frombuffer": lambda b: np.frombuffer(b, "u1"),
    "bytes of slice": lambda b: bytes(memoryview(b)[10:2000]),
    "py_buffer": lambda b: pa.py_buffer(b),
    "array of b": lambda b: array.array("B", bytes(b)),
}
WORDS: dict[str, Operation] = {
    "array": lambda w: array.array("d", w),
    "asarray": lambda w: np.asarray(w),
    "np.array": lambda w: np.array(w),
    "memoryview": lambda w: memoryview(w),
    "bytes": lambda w: bytes(w),
    "frombuffer": lambda w: np.frombuffer(w),
}
ARROW: dict[str, Operation] = {
    "pa.array": lambda a: pa.array(a),
    "pa.array cast": lambda a: pa.array(a, pa.float32()),
    "pa.array.to_numpy": lambda a: pa.array(a).to_numpy(),
    "py_buffer": lambda a: pa.py_buffer(a),
}
OUT = np.empty(COUNT)


class Caching:
    """What it gives is made once, and kept."""

    def __init__(self, source: Any) -> None:
        self.kept = np.array(source)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.kept


def in_thread(work: Callable[[], Any]) -> Any:
    """The result of a function that another thread called."""
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(work()))
    thread.start()
    thread.join()
    return results[0]


def after_an_error(a: Any) -> Any:
    """A copy that fails, then one that does not."""
    with pytest.raises(ValueError, match="cannot reshape"):
        a.copy().reshape(3, 5)
    return a.copy()


HARD: dict[str, Operation] = {
    "lossy astype i1": lambda a: a.astype("i1"),
    "lossy astype f4 of T": lambda a: a.reshape(64, 64).T.astype("f4"),
    "reversed view": lambda a: a[::-1].view(),
    "reversed copy": lambda a: a[::-1].copy(),
    "overlapping windows": lambda a: np.lib.stride_tricks.sliding_window_view(a, 8).view(),
    "overlapping windows copied": lambda a: np.lib.stride_tricks.sliding_window_view(a, 8).copy(),
    "broadcast view": lambda a: np.broadcast_to(a, (2, COUNT)).view(),
    "broadcast copy": lambda a: np.broadcast_to(a, (2, COUNT)).copy(),
    "in a thread": lambda a: in_thread(a.copy),
    "a view in a thread": lambda a: in_thread(a.view),
    "an error before": after_an_error,
    "out": lambda a: np.take(a, np.arange(COUNT), out=OUT, mode="clip"),
    "in place": lambda a: np.negative(a, a),
    "kept by a cache": lambda a: np.asarray(Caching(a)),
}
CASES = [
    pytest.param(make, operation, id=f"{make.__name__} {name}")
    for make, table in (
        (numbers, NUMPY),
        (matrix, MATRIX),
        (octets, OCTETS),
        (words, WORDS),
        (numbers, ARROW),
        (numbers, HARD),
    )
    for name, operation in table.items()
]


def verdicts(trace: Any, result: Any) -> set[str]:
    """What the trace says of the bytes that the operation gave: "shared" or "fresh"; not of its scratch."""
    found = set()
    for copy in (copy for copy in trace.fact.copies if copy.span_bytes >= SCRATCH_BYTES):
        found.add("shared" if copy.verdict in ("shared", "in place") else "fresh")
    return found


def trace_of(trace: Any, *wanted: str) -> list[Any]:
    """The copies with these verdicts."""
    return [copy for copy in trace.fact.copies if copy.verdict in wanted]


@pytest.mark.parametrize(("make", "operation"), CASES)
def test_the_verdict_is_what_the_bytes_do(make: Callable[[], Any], operation: Operation) -> None:
    expected = shares_bytes(make, operation)
    source = make()
    with inspector.trace("numpy", "pyarrow", "array") as t:
        result = operation(source)
    said = verdicts(t, result)
    assert ("fresh" not in said and "shared" in said) == expected, [
        (copy.verdict, copy.function, copy.copied_bytes) for copy in t.fact.copies
    ]
    large = [copy for copy in trace_of(t, "copied", "computed", "made") if copy.span_bytes >= LEAST_BYTES]
    assert [copy.function for copy in large if isinstance(copy.allocator, Unknown)] == []
    if not expected and isinstance(result, np.ndarray):
        assert max(copy.copied_bytes for copy in t.fact.copies) == result.nbytes
