"""What every adapter must keep: no question changes the object, keeps a reference or runs its code."""

from __future__ import annotations

import array
import ctypes
import gc
import importlib
import mmap
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest

from inspector._native import Subject
from inspector.adapters import registry
from inspector.adapters.base import Adapter, Elements
from inspector.facts.memory import Range
from inspector.facts.unknown import Unknown

pytestmark = pytest.mark.core


class Pair(ctypes.Structure):
    """A structure of the user's."""

    _fields_ = (("a", ctypes.c_int), ("b", ctypes.c_double))


def of_python() -> Iterator[Any]:
    yield from (b"bytes", b"", bytearray(b"bytes"), memoryview(b"bytes")[::2], memoryview(bytearray(6)))
    released = memoryview(b"gone")
    released.release()
    yield released


def of_ctypes() -> Iterator[Any]:
    yield from ((ctypes.c_int * 3)(1, 2, 3), Pair(1, 2.0), ctypes.pointer(Pair()), ctypes.c_char_p(b"text"))
    yield (Pair * 2)()[1]


def of_mmap() -> Iterator[Any]:
    closed = mmap.mmap(-1, 100)
    closed.close()
    yield from (mmap.mmap(-1, 4096), closed)


def of_numpy() -> Iterator[Any]:
    x = np.arange(24, dtype="i4").reshape(4, 6)
    yield from (
        x,
        x.T,
        x[::-1, ::2],
        x[:0],
        np.array(3.5),
        np.asfortranarray(x),
        np.broadcast_to(x[0], (3, 6)),
    )
    yield from (np.array([None, []], object), np.zeros(3, [("a", "f8"), ("b", "i1")]), np.zeros(3, ">f4"))
    yield from (np.array(["text", ""]), np.zeros(2, "M8[s]"), np.frombuffer(b"bytes", "u1"))
    windows = np.lib.stride_tricks.sliding_window_view(x[0], 2)
    yield from (windows, windows.base, np.ma.array([1, 2], mask=[0, 1]), np.zeros(3).view(np.recarray))


def of_pandas() -> Iterator[Any]:
    pandas = importlib.import_module("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0], "c": ["x", "y"], 7: [1, 2]})
    frame["d"] = pandas.Categorical(["u", "v"])
    frame["e"] = pandas.array([1, None], dtype="Int64")
    yield from (frame, frame["a"], frame["d"], frame.index, frame.columns, pandas.DataFrame())
    yield pandas.date_range("2026-01-01", periods=3)


SAMPLES: dict[str, Callable[[], Iterator[Any]]] = {
    "": of_python,
    "array": lambda: iter((array.array("d", [1.0, 2.0]), array.array("B"))),
    "ctypes": of_ctypes,
    "mmap": of_mmap,
    "numpy": of_numpy,
    "pandas": of_pandas,
}


def awake() -> dict[str, Adapter]:
    for library in SAMPLES:
        if library:
            importlib.import_module(library)
    registry.shared().wake()
    return {adapter.library: adapter for adapter in registry.shared().awake}


def test_every_adapter_has_samples_and_is_well() -> None:
    assert set(awake()) == set(SAMPLES)
    assert registry.problems() == ()


def ask_all(adapter: Adapter, x: Any) -> None:
    """Every question of the protocol; answers have the types the protocol promises."""
    blocks = adapter.elements(x)
    assert all(type(block) is Elements for block in blocks)
    spans = adapter.spans(x)
    assert all(type(span) is Range and span.start < span.stop for span in spans)
    assert all(type(relation) is str for relation, _ in adapter.holds(x))
    assert all(type(name) is str for name, _ in islice(adapter.parts(x), 100))
    assert type(adapter.owns(x)) in (bool, Unknown)
    assert type(adapter.exports(x)) in (int, Unknown)
    assert all(type(name) is str and type(value) is str for name, value in adapter.names(x))
    for block in blocks:
        if block.size and block.numeric:
            assert type(adapter.text(block, bytes(block.itemsize_bytes))) in (str, Unknown)


@pytest.mark.parametrize("library", SAMPLES)
def test_no_question_disturbs_the_object(library: str, fingerprint: Callable[[object], Any]) -> None:
    adapters = awake()
    for x in SAMPLES[library]():
        adapter = registry.adapter_of(type(x))
        assert adapter is adapters[library]
        ask_all(adapter, x)  # the first time may fill the library's own caches
        before = fingerprint(x)
        ask_all(adapter, x)
        assert fingerprint(x) == before, f"{type(x)} was changed"


@pytest.mark.parametrize("library", SAMPLES)
def test_the_first_question_leaves_the_refcount(library: str) -> None:
    awake()
    for x in SAMPLES[library]():
        subject = Subject(x)
        del x
        before = subject.refcount()
        adapter = registry.adapter_of(type(subject.get()))
        assert adapter is not None
        ask_all(adapter, subject.get())
        assert subject.refcount() == before


def test_a_thousand_looks_keep_nothing() -> None:
    adapters = awake()
    samples = [(adapters[library], x) for library, make in SAMPLES.items() for x in make()]

    def objects() -> int:
        gc.collect()
        return sys.getallocatedblocks()

    grown = []
    for _ in range(8):  # the libraries' own caches fill slowly; a leak grows in every round
        before = objects()
        for adapter, x in samples:
            for _ in range(25):
                ask_all(adapter, x)
        grown.append(objects() - before)
        if grown[-1] < 25:
            return
    raise AssertionError(f"a leak in one sample is 25 blocks a round: {grown}")
