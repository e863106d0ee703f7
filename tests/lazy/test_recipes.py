"""lazy.map, lazy.wrap (C and cffi providers of lazy.h), freeze=True, and what inspect() prints."""

# SPDX-License-Identifier: MIT
import gc
import pickle
import re
import threading
from pathlib import Path

import cffi
import numpy as np
import pytest
from refused import refused
from threads import at_once

from inspector import lazy
from inspector.facts.lazy import Lazy
from inspector.facts.wire import from_wire, to_wire
from inspector.views.lazy import of_lazy
from inspector.views.rows import Drawing
from inspector.views.to_text import plain_text

pytestmark = pytest.mark.core

STRUCT = re.sub(r"//[^\n]*|#[^\n]*", "", Path(lazy.include(), "inspector", "lazy.h").read_text())


def test_map_of_a_function_and_of_a_ufunc():
    x = np.array([1.0, 4, 9])
    assert lazy.map(np.sqrt, x).tolist() == [1, 2, 3]
    assert lazy.map(lambda v: v > 2, x, dtype="?").tolist() == [False, True, True]
    assert lazy.map(np.abs, x).origin == "abs"
    assert lazy.map(np.sqrt, x, dtype="f4").dtype == np.float32
    assert lazy.map(int, x, dtype="i2")[1] == 4
    with refused("lazy-dtype"):
        lazy.map(int, x)


def test_a_function_that_raises_leaves_it_lazy():
    calls = []

    def once(value):
        calls.append(value)
        if len(calls) == 1:
            raise KeyError("first")
        return value

    y = lazy.map(once, np.array([1.0, 2]), dtype="f8")
    with pytest.raises(KeyError):  # NumPy asks twice: by the buffer protocol, and then by __array__
        y.dataptr()
    assert y.state == "lazy" and np.asarray(y).tolist() == [1, 2]


@pytest.fixture
def ffi():
    made = cffi.FFI()
    made.cdef(STRUCT)
    return made


class Cffi:
    """A provider whose functions are cffi callbacks: i * 2 of int32."""

    def __init__(self, ffi, length, fails=0, elt=True):
        self.fails, self.released = fails, 0

        @ffi.callback("int64_t(void *, int64_t, int64_t, void *)")
        def get_region(context, i, n, out):
            if self.fails:
                self.fails -= 1
                return -1
            room = ffi.cast("int32_t *", out)
            for k in range(n):
                room[k] = 2 * (i + k)
            return n

        @ffi.callback("int(void *, int64_t, void *)")
        def one(context, i, out):
            ffi.cast("int32_t *", out)[0] = 2 * i
            return 0

        @ffi.callback("void(inspector_lazy_provider *)")
        def release(provider):
            self.released += 1

        self.kept = (get_region, one, release, ffi.new("char[]", b"doubles"), ffi.new("char[]", b"i"))
        self.struct = ffi.new("inspector_lazy_provider *")
        self.struct.abi, self.struct.length = 1, length
        self.struct.name, self.struct.format = self.kept[3], self.kept[4]
        self.struct.get_region, self.struct.release = get_region, release
        if elt:
            self.struct.elt = one


@pytest.mark.parametrize("elt", [True, False])
def test_a_provider_in_cffi(ffi, elt):
    provider = Cffi(ffi, 40_000, elt=elt)
    y = lazy.wrap(provider.struct, keep=provider)
    assert repr(y) == "<Vector lazy(doubles) int32, length 40000>" and y[7] == 14
    assert lazy.check_lazy(y).ok and y.state == "lazy"
    assert np.mean(lazy.abs(y)) == 39_999
    with refused("lazy-not-pickled"):
        pickle.dumps(y)
    before = provider.released
    del y
    gc.collect()
    assert provider.released == before + 1


def test_a_cffi_provider_that_fails(ffi):
    provider = Cffi(ffi, 10, fails=1)
    y = lazy.wrap(int(ffi.cast("uintptr_t", provider.struct)), keep=provider)
    with refused("lazy-foreign-failed"):
        y.dataptr()
    assert y.state == "lazy"
    assert np.asarray(y).tolist() == list(range(0, 20, 2))


def test_a_provider_is_released_before_the_cycle_it_lies_in_is_cleared(ffi):
    """Its functions are Python objects of that cycle: called later, they would be gone."""
    for _ in range(20):
        provider = Cffi(ffi, 10)
        provider.me = [lazy.wrap(provider.struct, keep=provider)[2:], provider]
        del provider
        gc.collect()


@pytest.mark.parametrize(
    ("field", "value", "slug"), [("abi", 9, "lazy-abi"), ("length", -1, "lazy-nothing-to-compute")]
)
def test_a_struct_that_is_no_provider(ffi, field, value, slug):
    provider = Cffi(ffi, 10)
    setattr(provider.struct, field, value)
    with refused(slug):
        lazy.wrap(provider.struct)


C_PROVIDER = r"""
#include <Python.h>
#include <inspector/lazy.h>
static int64_t region(void *context, int64_t i, int64_t n, void *out) {
    double *room = out;
    for (int64_t k = 0; k < n; k++) room[k] = (double)(i + k) / 2;
    return n;
}
static int asked_sum = 0;
static int sum(void *context, void *out) { asked_sum++; *(double *)out = 49995000.0 / 2; return 1; }
static inspector_lazy_provider provider = {.abi = INSPECTOR_LAZY_ABI, .flags = INSPECTOR_LAZY_NOGIL,
    .name = "halves", .format = "d", .length = 10000, .get_region = region, .sum = sum};
static PyObject *make(PyObject *self, PyObject *unused) {
    return PyCapsule_New(&provider, INSPECTOR_LAZY_CAPSULE, NULL);
}
static PyObject *asked(PyObject *self, PyObject *unused) { return PyLong_FromLong(asked_sum); }
"""


@pytest.mark.quick
def test_a_provider_in_c_compiled_against_the_header(specimens):
    halves = specimens.build("halves", C_PROVIDER, flags=(f"-I{lazy.include()}",))
    y = lazy.wrap(halves.make())
    assert lazy.check_lazy(halves.make()).ok
    before = halves.asked()
    assert (y[3], np.sum(y), np.max(y)) == (1.5, 24997500.0, 4999.5)
    assert halves.asked() == before + 1 and y.state == "lazy"
    assert at_once(*[lambda: float(np.asarray(y).sum())] * 4) == [24997500.0] * 4 and len(y.events) == 1


def kinds(vector):
    return [event.kind for event in vector.inspect().events]


@pytest.mark.quick
def test_freeze_without_a_copy_where_only_names_reach_it():
    x = np.array([-1.0, 2])
    y = lazy.abs(x, freeze=True)
    assert y.data1 is x and not x.flags.writeable and kinds(y) == ["freeze"]
    with pytest.raises(ValueError):
        x[0] = 5
    temporary = lazy.abs(np.array([-1.0, 2]), freeze=True)
    assert kinds(temporary) == ["freeze"] and not temporary.data1.flags.writeable
    assert kinds(lazy.abs(np.frombuffer(b"12345678", "u1"), freeze=True)) == [], "bytes are frozen"


def test_freeze_copies_where_a_view_could_write():
    x = np.array([-1.0, 2])
    view = x[:]
    y = lazy.abs(x, freeze=True)
    view[0] = -9
    assert kinds(y) == ["copy"] and y.inspect().events[0].bytes == 16
    assert y.tolist() == [1, 2] and x.flags.writeable


def test_freeze_copies_what_something_else_holds():
    x = np.array([-1.0, 2])
    held = [x]
    assert kinds(lazy.abs(x, freeze=True)) == ["copy"] and held[0].flags.writeable
    part = np.array([-1.0, 2])[:1]
    assert kinds(lazy.abs(part, freeze=True)) == ["copy"]
    shared = bytearray(8)
    y = lazy.abs(shared, freeze=True)
    shared[0] = 7
    assert y[0] == 0


def test_the_seeds_session():
    """head(y, 2) and mean(y) leave it lazy, and the first mean is right; sort materializes."""
    x = np.array([-0.664313, 0.332979, -1.3749, 0.784393, 1.3133])
    y = lazy.abs(x)
    address = r"@[0-9a-f]+"
    first = (
        rf"{address} Vector \[REF\(1\)\] lazy\(abs\) \(len=5\)\n"
        rf"  {address} ndarray \[REF\(2\)\] float64 \(len=5\) -0.664313,0.332979,-1.3749,0.784393,1.3133"
    )
    shown = str(y.inspect())  # apart from its assert, which would hold y once more
    assert re.fullmatch(first, shown)
    assert y[:2].tolist() == [0.664313, 0.332979]
    assert np.mean(y) == pytest.approx(0.893977)
    shown = str(y.inspect())
    assert re.fullmatch(first, shown)
    np.sort(y)
    last = r" storage \[REF\(1\)\] float64 \(len=5\) 0.664313,0.332979,1.3749,0.784393,1.3133"
    shown = str(y.inspect())
    assert re.fullmatch(rf"{first.replace(' lazy', ' materialized lazy')}\n  {address}{last}", shown)
    drawn = plain_text(of_lazy(y.inspect()), Drawing(width=110))
    assert "state    owned · heap   input unchanged" in drawn
    assert "data1    ndarray float64 (5,)  -0.664313, 0.332979, -1.3749, 0.784393, 1.3133  @" in drawn
    assert "data2    storage float64 (5,)" in drawn
    assert re.search(r"materialized by np.sort +test_recipes.py:\d+ .*40 B ", drawn)


def test_a_look_leaves_no_trace(fingerprint):
    x = np.linspace(-1, 1, 50_000)
    y = np.sqrt(lazy.abs(x)[3:])
    for vector in (y, y.materialize(0, 1), y.materialize()):
        before = [fingerprint(vector), fingerprint(x), vector.state, vector.blocks, vector.exports]
        for _ in range(3):
            fact = vector.inspect()
        assert before == [fingerprint(vector), fingerprint(x), vector.state, vector.blocks, vector.exports]
    assert from_wire(Lazy, to_wire(fact)) == fact


def test_pending_while_another_thread_fills():
    entered, go_on = threading.Event(), threading.Event()

    class Slow(lazy.Vector):
        def get_region(self, i, n, out):
            entered.set()
            go_on.wait(20)
            out[:] = 1
            return n

    y = Slow(4)
    thread = threading.Thread(target=y.dataptr)
    thread.start()
    entered.wait(20)
    assert y.inspect().state == "pending" and "filling" in repr(y)
    go_on.set()
    thread.join(20)
    assert y.inspect().state == "owned"


def test_the_running_cell_is_named():
    """IPython keeps its history in the namespace a cell runs in: the last of it is the running cell."""
    cell = {"In": ["", "a", "b", "c"], "get_ipython": None, "lazy": lazy, "np": np}
    exec("y = lazy.abs(np.arange(3.)); np.asarray(y)", cell)
    assert cell["y"].inspect().events[0].cell == 3
