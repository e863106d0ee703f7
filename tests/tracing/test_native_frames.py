"""The C functions that a conversion came through, and those that asked for a copy's memory."""

# SPDX-License-Identifier: MIT
from typing import Any

import numpy as np
import pytest
import specimens
from refused import refused
from threads import at_once

import inspector
from inspector.facts.unknown import Unknown

pytestmark = [pytest.mark.core, pytest.mark.quick]
SOURCE = """
#include <Python.h>
#define APART __attribute__((noinline, noclone))
static volatile long seen;
static APART void convert(PyObject *number) { seen += PyLong_AsLong(number); seen++; }
static APART void one_way(PyObject *number) { convert(number); seen++; }
static APART void another_way(PyObject *number) { convert(number); seen += 2; }
static APART void deeper(PyObject *number, int left) {
    if (left) { deeper(number, left - 1); } else { convert(number); }
    seen++;
}
static PyObject *both(PyObject *self, PyObject *number) {
    one_way(number);
    for (int i = 0; i < 3; i++) { another_way(number); }
    Py_RETURN_NONE;
}
static PyObject *deep(PyObject *self, PyObject *number) { deeper(number, 50); Py_RETURN_NONE; }
static PyObject *filled(PyObject *self, PyObject *size) {
    return PyByteArray_FromStringAndSize(NULL, PyLong_AsSsize_t(size));
}
"""


@pytest.fixture(scope="module")
def module() -> Any:
    return specimens.build("frames_seen", SOURCE)


def symbols(frames: Any) -> list[str]:
    return [frame.symbol if isinstance(frame.symbol, str) else "" for frame in frames]


def ways(trace: Any, function: str = "PyLong_AsLong") -> list[tuple[int, list[str]]]:
    return [(one.times, symbols(one.frames)) for one in trace.conversions if one.function == function]


def test_each_way_to_a_conversion_is_told_counted_and_saved(module: Any, tmp_path: Any) -> None:
    with inspector.trace("frames_seen", native=True) as trace:
        module.both(7)
    assert ways(trace) == [(1, ["convert", "one_way", "both"]), (3, ["convert", "another_way", "both"])]
    assert "convert ← another_way ← both (frames_seen.so)" in trace.tree()
    trace.save(tmp_path / "a.trace")
    loaded: Any = inspector.load(tmp_path / "a.trace")
    assert loaded.fact == trace.fact and ways(loaded) == ways(trace)


def test_without_being_asked_there_are_none(module: Any) -> None:
    with inspector.trace("frames_seen", native=True) as trace:
        module.both(7)
    with inspector.trace("frames_seen", grade="deep") as trace:
        module.both(7)
    assert ways(trace) == [(4, [])]


def test_of_a_deep_recursion_the_innermost_frames_are_kept(module: Any) -> None:
    with inspector.trace("frames_seen", native=True) as trace:
        module.deep(7)
    assert ways(trace) == [(1, ["convert", *["deeper"] * 23])]


def test_a_thread_has_its_own(module: Any) -> None:
    with inspector.trace("frames_seen", native=True) as trace:
        at_once(*(lambda n=n: module.both(n) for n in range(4)))  # type: ignore[misc]
    told = [(4, ["convert", "one_way", "both"]), (12, ["convert", "another_way", "both"])]
    assert sorted(ways(trace)) == told


def test_the_memory_of_a_copy_tells_who_asked_for_it() -> None:
    columns = np.ones((100, 100)).T
    with inspector.trace("numpy", native=True) as trace:
        kept = columns.copy()
    (copy,) = trace.copies
    assert kept.nbytes == copy.copied_bytes == 80_000
    libraries = {frame.library for frame in copy.frames}
    assert len(copy.frames) > 1
    assert all(isinstance(one, str) and "_multiarray_umath" in one for one in libraries)


def test_every_return_address_lies_in_a_file(module: Any) -> None:
    with inspector.trace("frames_seen", "numpy", native=True) as trace:
        module.filled(1 << 16)
        np.sort(np.array([3.0] * 5_000))
    frames = [frame for one in trace.conversions for frame in one.frames]
    assert frames and not any(isinstance(frame.library, Unknown) for frame in frames)


@pytest.mark.parametrize("options", [{"grade": "count"}, {"keep": "/tmp"}])
def test_what_does_not_go_together(options: dict[str, Any]) -> None:
    with refused("bad-option", "native frames"):
        inspector.trace("numpy", native=True, **options)
