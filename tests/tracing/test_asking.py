"""What a trace asks the adapters: as little as tells the same."""

# SPDX-License-Identifier: MIT
import sys
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from apart import ran

import inspector
from inspector.facts.unknown import Unknown
from inspector.tracing.record import reported_spans
from inspector.tracing.record.own_parts import own_parts


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the types of the objects that were asked about."""
    names: list[str] = []
    make = reported_spans.asker

    def asker() -> Callable[..., Any]:
        ask = make()
        return lambda x, *after: names.append(type(x).__name__) or ask(x, *after)  # type: ignore[func-returns-value]

    monkeypatch.setattr(reported_spans, "asker", asker)
    return names


@pytest.mark.parametrize("index", [pd.Index(np.arange(1000)), pd.RangeIndex(1000)], ids=["index", "range"])
def test_an_index_is_asked_about_only_where_the_call_gave_bytes(asked: list[str], index: pd.Index) -> None:
    before = sys.getrefcount(index)
    with inspector.trace("pandas") as traced:
        for _ in range(20):
            pd.api.types.is_scalar(index)
    assert sum(call.times for call in traced.calls if call.name.endswith("is_scalar")) == 20
    assert asked.count(type(index).__name__) == 1, "the first one tells that the others need not be asked"
    assert sys.getrefcount(index) == before


def work(index: pd.Index) -> SimpleNamespace:
    """Results that hold an index's values, or its own bytes."""
    filled = np.empty(1000, "i8")
    np.copyto(filled, index)
    return SimpleNamespace(
        filled=filled,
        view=np.asarray(index),
        copied=np.array(index),
        joined=np.concatenate([index, index]),
        few=[np.asarray(index) for _ in range(30)],
    )


def judged(index: pd.Index) -> tuple[list[Any], list[Any]]:
    for _ in range(2):  # what a first call makes once is not of interest
        with inspector.trace("numpy", "pandas") as traced:
            made = work(index)
    told = [
        [(one.verdict, one.copied_bytes) for one in traced.of(kept)]
        for kept in (made.filled, made.view, made.copied, made.joined)
    ]
    copies = [(one.function, one.copied_bytes, one.verdict, one.reason) for one in traced.copies]
    return told, copies


def test_what_is_asked_after_a_call_tells_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    index = pd.Index(np.arange(1000))
    later = judged(index)
    monkeypatch.setattr(reported_spans, "asker", lambda: reported_spans.spans)
    assert later == judged(index)
    assert ("copied", 8000) in later[0][2] and later[0][1][0][1] == 0
    assert any(function.endswith("copyto") and size == 8000 for function, size, _, _ in later[1])


NOWHERE = """
import cffi, inspector
ffi = cffi.FFI()
nowhere = ffi.cast("double(*)[4096]", 16)[0]
lost = ffi.gc(ffi.new("double[]", 4096), lambda _: None)
with inspector.trace("numpy", "cffi") as traced:
    made = ffi.buffer(nowhere), ffi.buffer(lost, 32768), ffi.gc(lost, lambda _: None)
print(traced.of(made[1])[0].verdict)
"""


NO_LONGER_THERE = """
import ctypes, mmap, tempfile
import numpy as np, inspector
with tempfile.TemporaryFile() as file:
    file.truncate(1 << 20)
    mapped = np.frombuffer(mmap.mmap(file.fileno(), 1 << 20), "u1")
    file.truncate(1 << 12)
number = (ctypes.c_double * 4096).from_address(16)
outside = np.lib.stride_tricks.as_strided(np.zeros(4), (1000,), (1 << 40,))
with inspector.trace("numpy") as traced:
    views = mapped.view(), mapped.reshape(2, -1), outside.view(), np.frombuffer(number)
    more = [one[::2].view() for one in views]
print(*{copy.verdict for one in views for copy in traced.of(one)})
"""


@pytest.mark.parametrize("code", [NOWHERE, NO_LONGER_THERE], ids=["a cast from a number", "a cut file"])
def test_memory_that_is_not_there_is_not_read(code: str) -> None:
    """Of what an adapter tells, a few elements are read directly: the program died of each of these."""
    ended = ran("-c", code)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "shared\n", "")


def test_many_objects_of_one_type_hide_none_of_another() -> None:
    holder = pd.Series(np.arange(1000.0))
    target = np.asarray(holder)
    many = [weakref.ref(holder, lambda _: None) for _ in range(3 * reported_spans.MOST_ASKED)]
    start = target.__array_interface__["data"][0]
    others = reported_spans.Others(target)
    assert others.hold(start, target.nbytes)
    assert not others.hold(start, target.nbytes + 8)
    assert len(many) == 3 * reported_spans.MOST_ASKED


def test_what_an_object_alone_holds_is_a_part_of_it() -> None:
    """A nullable column holds an array of pandas', which an adapter knows as well: it is no other holder."""
    column = pd.Series([1, 2, 3], dtype="Int64")
    inside = id(column.array)
    assert {id(column), inside} <= own_parts(column)
    held = column.array
    assert id(held) == inside and inside not in own_parts(column)


def test_a_table_of_more_columns_than_are_kept_on_the_stack_is_told_whole() -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="cannot be installed")
    table = pyarrow.table({f"c{n}": np.arange(2048.0) + n for n in range(40)})
    with inspector.trace("pyarrow") as traced:
        last = table.select(["c39", "c17"])
        cast = table.cast(pyarrow.schema([(name, "float32") for name in table.column_names]))
    assert {copy.verdict for copy in traced.of(last)} == {"shared"}
    assert not any(copy.function.endswith("select") for copy in traced.copies)
    assert sum(copy.copied_bytes for copy in traced.of(cast)) == cast.nbytes


def test_of_a_table_of_still_more_columns_nothing_is_told_to_be_copied() -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="cannot be installed")
    table = pyarrow.table({f"c{n}": np.arange(2048.0) + n for n in range(reported_spans.MOST_AFTER + 8)})
    with inspector.trace("pyarrow") as traced:
        last = table.select([f"c{reported_spans.MOST_AFTER + 5}"])
    assert not any(copy.function.endswith("select") for copy in traced.copies)
    assert isinstance(traced.of(last), Unknown)


def test_many_arguments_that_are_asked_about_later_keep_their_places() -> None:
    """More than a call's records have room for: the rest is counted."""
    indexes = [pd.Index(np.arange(10) + n) for n in range(9)]
    with inspector.trace("numpy") as traced:
        np.broadcast_arrays(*indexes)
        made = np.concatenate(indexes)
    assert made.shape == (90,) and traced.dropped == 0
    assert [one.copied_bytes for one in traced.copies if one.function.endswith("concatenate")][:1] == [720]
