"""Who asked for the memory of a result; the hooks that tell it are put back to the byte on every way out."""

# SPDX-License-Identifier: MIT
import array
import ctypes
import importlib
import sys
import tracemalloc
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from apart import ran
from threads import repeating

import inspector
from inspector import _native
from inspector.facts.unknown import Unknown

pytestmark = pytest.mark.core
COUNT = 4096
DOMAINS = range(3)


class Allocator(ctypes.Structure):
    """PyMemAllocatorEx."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("ctx", "malloc", "calloc", "realloc", "free")]


def python_allocators() -> list[tuple[int | None, ...]]:
    """The five words of each domain, as Python has them now."""
    found = []
    for domain in DOMAINS:
        held = Allocator()
        ctypes.pythonapi.PyMem_GetAllocator(domain, ctypes.byref(held))
        found.append(tuple(getattr(held, name) for name, _ in Allocator._fields_))
    return found


def slot_words() -> dict[int, int]:
    """What each slot through which memory is asked for holds now, by address; not of unloaded modules."""
    loaded = frozenset(_native.got_objects())
    places = [row[4] for row in _native.got_slots() if row[3] == -2 and row[1] in loaded]
    words = {place: _native.read(place, 8) for place in places}
    return {place: int.from_bytes(word, "little") for place, word in words.items() if word is not None}


@pytest.fixture
def put_back() -> Any:
    """Everything is, after the test, what it was before it."""
    with inspector.trace("math"):  # every loaded object has been searched
        pass
    words, allocators = slot_words(), python_allocators()
    assert words
    yield
    after = slot_words()
    assert {address: after[address] for address in words} == words
    assert python_allocators() == allocators


NUMPY = (
    f"_multiarray_umath ({'malloc' if np.lib.NumpyVersion(np.__version__) < '2.5.0' else 'PyMem_RawMalloc'})"
)
"""NumPy 2.5 asks Python where it asked libc before."""


def allocators(trace: Any) -> dict[str, str | Unknown]:
    return {copy.site.text: copy.allocator for copy in trace.fact.copies}


@pytest.mark.quick
def test_the_asking_library_is_named(put_back: None) -> None:
    a = np.arange(float(COUNT))
    with inspector.trace("numpy") as t:
        a.copy()
        bytes(a)
        array.array("d", a)
        np.array([1.5] * COUNT)
    said = allocators(t)
    assert said["a.copy()"] == said["np.array([1.5] * COUNT)"] == NUMPY
    assert str(said["bytes(a)"]).startswith("Python (Py")  # of which domain depends on PYTHONMALLOC
    assert str(said['array.array("d", a)']).endswith("Malloc)")  # `array` may be built in
    assert f"memory {NUMPY}" in t.tree()


def test_an_allocator_inside_a_library_is_said_to_be_one(put_back: None) -> None:
    pa = pytest.importorskip("pyarrow", reason="cannot be installed")
    rows = list(range(COUNT))
    with inspector.trace("pyarrow") as t:
        pa.array(rows)
    assert allocators(t)["pa.array(rows)"] == "pyarrow (its own allocator)"


def test_what_is_not_known_has_a_reason() -> None:
    a = np.arange(10.0)
    with inspector.trace("numpy") as t:
        a.copy()
        a.reshape(2, 5)
    with inspector.trace("numpy", grade="count") as counted:
        a.copy()
    assert str(allocators(t)["a.copy()"]) == "? blocks under 4 KiB are not recorded"
    assert str(allocators(t)["a.reshape(2, 5)"]) == "? it is an argument's memory"
    assert all(isinstance(copy.allocator, Unknown) for copy in counted.fact.copies)


def test_memory_that_something_keeps_is_not_new(put_back: None) -> None:
    kept = np.arange(float(COUNT))

    class Holder:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return kept

    with inspector.trace("numpy") as t:
        given = np.asarray(Holder())
    assert np.shares_memory(given, kept)
    (copy,) = t.fact.copies
    assert (copy.verdict, copy.copied_bytes, copy.span_bytes) == ("shared", 0, kept.nbytes)
    assert copy.reason == "the memory was allocated before the call: something keeps it"


@pytest.mark.quick
def test_an_exception_puts_everything_back(put_back: None) -> None:
    with pytest.raises(ZeroDivisionError), inspector.trace("numpy"):
        np.arange(float(COUNT)).copy()
        raise ZeroDivisionError


def test_nothing_is_hooked_that_was_not_asked_for(put_back: None) -> None:
    before = python_allocators()
    with inspector.trace("numpy", copies=False):
        assert python_allocators() == before
        assert not any(row[6] for row in _native.got_slots() if row[3] == -2)


def test_tracemalloc_begun_meanwhile_is_left_alone() -> None:
    before = python_allocators()
    a = np.arange(float(COUNT))
    with inspector.trace("numpy") as t:
        tracemalloc.start()
        bytes(a)
    theirs = python_allocators()
    with inspector.trace("numpy") as again:
        bytes(a)
    assert python_allocators() == theirs != before
    tracemalloc.stop()  # gives back what it found: ours
    with inspector.trace("numpy") as last:
        bytes(a)
    assert all(str(allocators(one)["bytes(a)"]).startswith("Python (Py") for one in (t, again, last))
    assert python_allocators() == before


def test_arming_while_threads_allocate(put_back: None) -> None:
    """Threads get and give back blocks of every domain, with and without the GIL, while all is toggled."""
    wrong: list[int] = []
    a = np.arange(float(1 << 15))

    def allocate() -> None:
        one, two = a.copy(), bytes(20_000)
        grown = bytearray(one)
        grown.extend(two)
        if grown[: one.nbytes] != one.tobytes() or any(grown[one.nbytes :: 999]):
            wrong.append(len(grown))

    with repeating(4, allocate):
        for _ in range(300):
            _native.allocations_arm()
            _native.allocations_disarm()
    assert wrong == []


CHILD = """
import ctypes, os, sys
import numpy as np, inspector
from inspector import _native
a = np.arange(4096.0)
with inspector.trace("numpy") as t:
    {body}
print(*sorted({{str(copy.allocator) for copy in t.fact.copies}}), sep=", ")
"""


def child(body: str, **environment: str) -> str:
    made = ran("-c", CHILD.format(body=body), **environment)
    assert (made.returncode, made.stderr) == (0, "")
    return made.stdout


@pytest.mark.parametrize("kind", ["malloc", "debug", "pymalloc", "malloc_debug"])
def test_every_allocator_of_python(kind: str) -> None:
    said = child("bytes(a); array = np.asarray(list(range(4096)))", PYTHONMALLOC=kind)
    assert "_multiarray_umath (" in said and "Python (Py" in said


def test_a_fork_while_armed_goes_on() -> None:
    body = "pid = os.fork(); b = bytes(a); c = a.copy()\n    if not pid: os._exit(len(b) // 8192)\n"
    wait = "    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 4"
    said = child(body + wait, PYTHONMALLOC="pymalloc")
    assert said == f"Python (PyMem_RawMalloc), {NUMPY}\n"


def test_a_process_may_end_while_armed() -> None:
    assert child("a.copy(); sys.stdout.write('ended'); sys.stdout.flush(); sys.exit(0)") == "ended"


def test_what_is_loaded_meanwhile_is_hooked(
    specimens: ModuleType, put_back: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = """
#include <Python.h>
#include <stdlib.h>
static char *volatile kept;
static PyObject *grow(PyObject *self, PyObject *count) {
    kept = realloc(kept, PyLong_AsSize_t(count));
    return PyMemoryView_FromMemory(kept, PyLong_AsSsize_t(count), PyBUF_WRITE);
}
"""
    monkeypatch.syspath_prepend(str(specimens.library("grower", source).parent))
    with inspector.trace("grower") as t:
        grower: Any = importlib.import_module("grower")
        grower.grow(50_000)
        grower.grow(10)
    del sys.modules["grower"]
    grown = [copy for copy in t.fact.copies if copy.function == "grower.grow"]
    small = "? blocks under 4 KiB are not recorded"
    assert [str(copy.allocator) for copy in grown] == ["grower (realloc)", small]
