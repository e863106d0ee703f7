"""Sampled growth: the line that asked for memory which is still in use, and how much."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import ctypes
import importlib
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from apart import printed
from specimens import build, library

import inspector
from inspector import _native
from inspector.errors import TargetGone
from inspector.facts.growth import Growth, GrowthSource
from inspector.sessions.growth.attached import growth_of
from inspector.sessions.growth.sampled import Sampled
from inspector.verdicts.answers.growth import asked_for

pytestmark = pytest.mark.core

LEAKS = r"""
#include <Python.h>
#include <stdlib.h>
#include <string.h>
static void *volatile kept;
static PyObject *leak(PyObject *self, PyObject *bytes) {
    size_t size = PyLong_AsSize_t(bytes);
    kept = memset(malloc(size), 1, size);
    Py_RETURN_NONE;
}
static PyObject *keep_none(PyObject *self, PyObject *bytes) {
    size_t size = PyLong_AsSize_t(bytes);
    kept = memset(malloc(size), 1, size);
    kept = realloc(kept, 2 * size);
    free(kept);
    Py_RETURN_NONE;
}
"""


@pytest.fixture(scope="module")
def grows() -> Any:
    return build("grows", LEAKS)


def sampled(run: Callable[[], object]) -> Growth:
    block = Sampled()
    with block:
        kept = run()
    found = block.growth()
    del kept
    return found


def of_this_file(growth: Growth) -> list[GrowthSource]:
    return [row for row in growth.sources if row.site.file == __file__ and row.bytes > 1_000_000]


@pytest.mark.quick
def test_a_leak_of_c_is_told_with_its_line_and_library(grows: Any) -> None:
    def run() -> None:
        for _ in range(60):
            grows.keep_none(1_000_000)
            grows.leak(1_000_000)

    (found,) = of_this_file(sampled(run))
    assert found.bytes == pytest.approx(60e6, rel=0.3)
    assert (found.site.text, found.allocator) == ("grows.leak(1_000_000)", "malloc")
    assert found.library.startswith("grows.") and "leak" in found.native[0]


def of_c() -> Any:
    libc = ctypes.CDLL(None)
    libc.malloc.restype = libc.strdup.restype = libc.realloc.restype = ctypes.c_void_p
    libc.malloc.argtypes, libc.free.argtypes = [ctypes.c_size_t], [ctypes.c_void_p]
    libc.realloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    return libc


def test_an_extension_that_is_imported_meanwhile_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(library("imported_meanwhile", LEAKS).parent)

    def run() -> None:
        imported = importlib.import_module("imported_meanwhile")
        for _ in range(60):
            imported.leak(1_000_000)

    (row,) = of_this_file(sampled(run))
    assert 40_000_000 < row.bytes < 80_000_000


def test_what_ctypes_asks_of_malloc_is_told_with_its_line() -> None:
    libc, kept = of_c(), list[int]()

    def run() -> None:
        for _ in range(60):
            block = libc.malloc(1_000_000)
            kept.append(ctypes.memset(block, 1, 1_000_000))
            libc.free(libc.realloc(libc.malloc(900_000), 1_100_000))

    (found,) = of_this_file(growth := sampled(run))
    assert found.bytes == pytest.approx(60e6, rel=0.3)
    assert (found.site.text, found.allocator) == ("libc.malloc(1_000_000)", "malloc")
    assert found.library.startswith("_ctypes.") and "(_ctypes)" in next(asked_for(growth)).text
    for block in kept:
        libc.free(block)


CROSSED = """
import ctypes, inspector
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
def work():
    for _ in range(30):
        ctypes.memset(libc.malloc(1_000_000), 1, 1_000_000)
for first in ("trace", "growth") * 3:
    both = {"trace": inspector.trace("ctypes"), "growth": inspector.growth()}
    last = {"trace": "growth", "growth": "trace"}[first]
    for name in (first, last):
        both[name].__enter__()
    work()
    for name in (first, last):
        both[name].__exit__(None, None, None)
        work()
    print(both["growth"].fact.sources[0].bytes)
print(any(slot[6] for slot in inspector._native.got_slots()))
"""


def test_blocks_that_end_in_another_order_than_they_began_call_nothing_twice() -> None:
    """The slot of libffi's call held the trampoline of an ended trace, which called itself."""
    *sizes, left = printed("-c", CROSSED).split()
    assert (len(sizes), left) == (6, "False")
    assert all(20e6 < int(size) < 90e6 for size in sizes)


def test_texts_that_c_copied_are_told() -> None:
    libc, kept = of_c(), list[int]()
    run = lambda: kept.extend(libc.strdup(b"y" * 50_000) for _ in range(600))  # noqa: E731
    (found,) = of_this_file(sampled(run))
    assert found.bytes == pytest.approx(30e6, rel=0.4) and found.allocator == "strdup"
    for block in kept:
        libc.free(block)


def test_what_cffi_asks_of_malloc_is_told() -> None:
    cffi = pytest.importorskip("cffi", reason="cannot be installed")
    ffi = cffi.FFI()
    ffi.cdef("void *malloc(size_t); void free(void *);")
    libc, kept = ffi.dlopen(None), list[Any]()

    def run() -> None:
        for _ in range(60):
            kept.append(libc.malloc(1_000_000))
            ffi.memmove(kept[-1], bytes(1_000_000), 1_000_000)
            libc.free(libc.malloc(1_000_000))

    (found,) = (row for row in of_this_file(sampled(run)) if row.allocator == "malloc")
    assert found.bytes == pytest.approx(60e6, rel=0.3) and "_cffi_backend" in found.library
    for block in kept:
        libc.free(block)


def test_small_objects_and_lists_that_grow_are_told() -> None:
    found = of_this_file(sampled(lambda: [str(n) * 3 for n in range(400_000)]))
    assert sum(row.bytes for row in found) == pytest.approx(400_000 * 75, rel=0.5)
    assert {row.library for row in found} == {""}


def test_what_was_freed_is_not_told(grows: Any) -> None:
    def run() -> None:
        for n in range(100):
            grows.keep_none(500_000)
            bytearray(1_000_000)
            [str(i) for i in range(n * 100)]

    assert of_this_file(sampled(run)) == []


def test_memory_that_was_never_touched_does_not_count() -> None:
    assert of_this_file(sampled(lambda: bytes(64_000_000))) == []  # of calloc


def test_hooks_are_gone_afterwards_and_one_block_samples_at_a_time() -> None:
    outer = Sampled()
    with outer:
        with pytest.raises(RuntimeError):
            _native.growth_begin(1)
        assert sampled(lambda: bytearray(50_000_000)).sources == ()
        kept = bytearray(b"x") * 50_000_000
    assert len(of_this_file(outer.growth())) == 1 and kept
    on = [slot for slot in _native.got_slots() if slot[3] == -8 and slot[6]]
    assert on == [] and outer.growth().sources == ()
    assert sampled(list).sources == ()


GROWING = """
import time
kept = []
print("begun", flush=True)
while len(kept) < 1000:
    kept.append(bytearray(b"x") * 1_000_000)
    time.sleep(0.01)
"""


def test_growth_of_another_process_is_told_by_row() -> None:
    with subprocess.Popen([sys.executable, "-c", GROWING], stdout=subprocess.PIPE) as child:
        assert child.stdout and child.stdout.readline()
        try:
            report = growth_of(child.pid, 1.0)
        finally:
            child.kill()
    found = report.growth
    said = r"Process \d+ grew by .+ MB in [12]\.\d s, .+ .B a minute: \d+ MB more in its heap, .+\."
    assert re.fullmatch(said, report.answers.rows[0].text)
    assert found.resident_bytes > 3_000_000 and found.sources == ()
    assert sum(row.bytes for row in found.rows) == pytest.approx(found.resident_bytes, rel=0.1)
    with pytest.raises(TargetGone):
        growth_of(child.pid, 0.1)


def test_no_reference_is_taken_where_references_are_counted(grows: Any) -> None:
    def run() -> None:
        grows.leak(5_000_000)

    run()  # a first call counts too
    for borrows, more in ((True, 0), (False, 1)):
        block, before = Sampled(borrows=borrows), sys.getrefcount(run.__code__)
        with block:
            run()
        meanwhile = sys.getrefcount(run.__code__)
        found = of_this_file(block.growth())
        after = sys.getrefcount(run.__code__)
        assert (meanwhile - before, len(found), after - before) == (more, 1, 0)


def test_steady_growth_is_told_from_memory_that_filled_once() -> None:
    def text(*quarters: int) -> str:
        (row,) = of_this_file(sampled(lambda: bytearray(b"x") * 30_000_000))
        fact = Growth(0, (), (type(row)(*_values(row, quarters)),), 1 << 19, 0, 1)
        return next(asked_for(fact)).text

    assert "more with time" in text(5_000_000, 5_000_000, 5_000_000, 5_000_000)
    assert "from the first half" in text(15_000_000, 5_000_000, 0, 0)
    assert text(15_000_000, 5_000_000, 0, 1).endswith("which is still in use.")


def _values(row: GrowthSource, quarters: tuple[int, ...]) -> list[Any]:
    new = {"bytes": sum(quarters), "samples": 40, "quarters": quarters}
    return [new.get(name, getattr(row, name)) for name in GrowthSource.__dataclass_fields__]


def test_a_block_within_a_block_says_that_it_was_not_sampled() -> None:
    with inspector.growth() as outer, inspector.growth() as inner:
        kept = bytearray(20_000_000)
    assert inner.fact.sample_bytes == 0 and "not sampled: another block samples" in str(inner)
    assert "asked for" in str(outer).splitlines()[0], len(kept)


def test_a_block_within_a_leaks_block_is_not_sampled(grows: Any) -> None:
    """Hooks of both in this order made a search for lost objects end the process on 3.14."""
    with inspector.leaks("grows"), inspector.growth() as inner:
        grows.leak(5_000_000)
    assert inner.fact.sample_bytes == 0 and "not sampled: another block" in str(inner)


def test_memory_of_arrows_pool_is_told_by_line() -> None:
    pa = pytest.importorskip("pyarrow", reason="cannot be installed")
    pc = pytest.importorskip("pyarrow.compute")
    numbers = pa.array(range(1_000_000))
    growth = sampled(lambda: [pc.add(numbers, 1) for _ in range(5)])
    (found,) = of_this_file(growth)
    assert found.allocator == "MemoryPool" and found.library.startswith("libarrow.so")
    assert found.bytes == pytest.approx(40e6, rel=0.3)
    assert "(libarrow.so" in (said := next(asked_for(growth)).text) and "from Arrow's pool" in said


IMPORTED = """
import inspector, numpy
with inspector.trace("decimal"), inspector.growth():
    import wsgiref.simple_server, bz2
    kept = [numpy.ones(2_000_000) for _ in range(3)]
print(any(slot[6] for slot in inspector._native.got_slots()))
"""


def test_an_import_in_a_trace_around_growth_makes_no_hooks_call_each_other() -> None:
    """The trace hooked on top of growth's hooks, which called the trace's: the process died."""
    assert printed("-c", IMPORTED) == "False\n"
