"""The lazy vector in C: elements, summaries, materialization, threads, memory, and what is lent to others."""

# SPDX-License-Identifier: MIT
import gc
import os
import pickle
import struct
import sys
import threading
import time
import weakref
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from refused import refused
from soak import rounds
from threads import at_once

from inspector import _native, lazy
from inspector.errors import InspectorError

pytestmark = [pytest.mark.core, pytest.mark.quick]

KINDS = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]
BLOCK = _native.LAZY_BLOCK_BYTES


def same(left, right):
    """Bit for bit, NaN payloads too."""
    left, right = np.ascontiguousarray(left), np.ascontiguousarray(right)
    return left.dtype == right.dtype and left.tobytes() == right.tobytes()


def elements(vector):
    """All elements by regions, without materializing."""
    out = np.empty(vector.length, vector.dtype)
    assert vector.get_region(0, vector.length, out) == vector.length
    return out


arrays = st.sampled_from(KINDS).flatmap(lambda kind: hnp.arrays(kind, st.integers(0, 70)))


@pytest.fixture(params=[False, True], ids=["avx2", "portable"])
def variant(request):
    _native.lazy_portable(request.param)
    yield request.param
    _native.lazy_portable(False)


@settings(max_examples=rounds(150, 1500), deadline=None)
@given(x=arrays, portable=st.booleans(), step=st.sampled_from([1, -1, 2, -3]))
def test_abs_is_numpys(x, portable, step):
    _native.lazy_portable(portable)
    x = x[::step]
    y, truth = lazy.abs(x), np.abs(x)
    assert y.dtype == truth.dtype and len(y) == len(truth)
    assert same(elements(y), truth)
    assert same(np.array([y.elt(i) for i in range(len(x))], truth.dtype), truth)
    assert y.state == "lazy"
    assert same(np.asarray(y), truth)
    assert y.state == "materialized"
    assert same(elements(y), truth)
    _native.lazy_portable(False)


@settings(max_examples=rounds(150, 1500), deadline=None)
@given(x=arrays.filter(len), portable=st.booleans())
def test_summaries_are_numpys(x, portable):
    _native.lazy_portable(portable)
    for y, truth in ((lazy.abs(x), np.abs(x)), (lazy.abs(x)[:], np.abs(x)), (_native.lazy_over(x, False), x)):
        with np.errstate(all="ignore"):
            assert np.array_equal(y.min(), truth.min(), equal_nan=truth.dtype.kind == "f")
            assert np.array_equal(y.max(), truth.max(), equal_nan=truth.dtype.kind == "f")
            assert y.is_sorted() == bool(same(np.sort(truth), truth) or (np.sort(truth) == truth).all())
            assert y.no_na() == (not np.isnan(truth).any() if truth.dtype.kind == "f" else True)
            if truth.dtype.kind != "f":
                assert y.sum() == truth.sum()
            wide = truth.astype("f8")
            scale = np.abs(wide).sum()
            assert np.isclose(y.sum(), truth.sum(), rtol=1e-5, equal_nan=True) or scale > 1e30
            exact = np.isclose(y.mean(), wide.mean(), rtol=1e-12, atol=1e-12 * scale, equal_nan=True)
            assert exact or not np.isfinite(scale) or scale > 1e300
    _native.lazy_portable(False)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("over", [0, 1, -1])
def test_blocks_meet_without_a_seam(kind, over, variant):
    """Two blocks and a partial one, of every kind."""
    n = 2 * BLOCK // np.dtype(kind).itemsize + over
    rng = np.random.default_rng(1)
    x = rng.integers(-100 if kind[0] in "if" else 0, 2 if kind == "?" else 100, n).astype(kind)
    y = lazy.abs(x)
    assert same(elements(y), np.abs(x))
    assert y.sum() == pytest.approx(np.abs(x).sum(dtype="f8"))
    assert y.mean() == pytest.approx(np.abs(x).mean(dtype="f8"), rel=1e-14)
    assert (y.min(), y.max()) == (np.abs(x).min(), np.abs(x).max())
    assert same(np.asarray(y), np.abs(x))
    assert y.blocks == (-(-n * np.dtype(kind).itemsize // BLOCK),) * 2


def test_corner_values():
    x = np.array([-0.0, np.nan, -np.inf, np.inf, -np.finfo("f8").tiny, 5e-324])
    assert same(elements(lazy.abs(x)), np.abs(x))
    assert str(lazy.abs(x)[0]) == "0.0"
    for kind in ("i1", "i2", "i4", "i8"):
        least = np.iinfo(kind).min
        with np.errstate(all="ignore"):
            assert lazy.abs(np.array([least, 1], kind))[0] == np.abs(np.array([least], kind))[0] == least
    assert lazy.abs(np.array([-1.0, np.nan, -3])).max() != lazy.abs(np.array([1.0])).max()
    assert np.isnan(lazy.abs(np.array([-1.0, np.nan, -3])).max())
    assert lazy.abs(np.array([np.inf, -np.inf])).mean() == np.inf


def test_length_zero():
    y = lazy.abs(np.empty(0))
    assert (len(y), y.sum(), y.is_sorted(), y.no_na(), list(y)) == (0, 0.0, True, True, [])
    assert np.isnan(y.mean())
    for ask in (y.min, y.max):
        with pytest.raises(ValueError, match="length 0"):
            ask()
    with pytest.raises(IndexError):
        y.elt(0)
    assert np.asarray(y).shape == (0,) and y.state == "materialized"


@settings(max_examples=rounds(200, 2000), deadline=None)
@given(
    start=st.integers(-1000, 1000),
    stop=st.integers(-1000, 1000),
    step=st.integers(-50, 50).filter(bool),
    kind=st.sampled_from([None, "i2", "i8", "f4", "f8"]),
    scale=st.sampled_from([1, 1, 0.1, 1 / 3]),
)
def test_arange_is_numpys(start, stop, step, kind, scale):
    limits = (start, stop, step) if scale == 1 else (start * scale, stop * scale, step * scale)
    if scale != 1 and kind in ("i2", "i8"):
        return
    truth = np.arange(*limits, dtype=kind)
    y = lazy.arange(*limits, dtype=kind)
    assert same(elements(y), truth)
    assert y.sum() == pytest.approx(truth.sum(dtype="f8"), abs=1e-3)
    assert y.is_sorted() == bool((np.sort(truth) == truth).all())
    if len(truth):
        assert (y.min(), y.max()) == (truth.min(), truth.max())
    assert y.data1 is None and y.state == "lazy"


def test_arange_has_no_elements_to_store():
    y = lazy.arange(10**12)
    assert sys.getsizeof(y) < 1000
    assert y.sum() in [10**12 * (10**12 - 1) // 2 % wide for wide in (2**63, 2**64)]
    assert y[10**11] == 10**11 and y.max() == 10**12 - 1


@pytest.mark.parametrize("limits", [(0, 10, 0), (0, float("inf"), 1), (0, 300)])
def test_arange_refuses_what_does_not_fit(limits):
    with refused("lazy-arange"):
        lazy.arange(*limits, dtype="i1" if limits == (0, 300) else None)


@settings(max_examples=rounds(150, 1500), deadline=None)
@given(x=hnp.arrays("i4", st.integers(0, 60)), first=st.slices(60), second=st.slices(60))
def test_slices_of_slices(x, first, second):
    y = lazy.abs(x)[first][second]
    assert same(elements(y), np.abs(x)[first][second])
    assert y.depth <= 1, "a slice of a slice lies over the vector itself"
    assert [y.elt(i) for i in range(len(y))] == np.abs(x)[first][second].tolist()


def test_far_strides_cross_blocks():
    x = np.arange(-200_000, 200_000)
    for step in (2, 7, 8, 9, 100, -5, -1000):
        assert same(elements(lazy.abs(x)[::step]), np.abs(x)[::step])


def test_sources_that_are_not_aligned_or_not_owned():
    raw = bytearray(8 * 1000 + 3)
    odd = np.frombuffer(raw, "f8", 1000, offset=3)
    odd[:] = np.linspace(-1, 1, 1000)
    assert same(elements(lazy.abs(odd)), np.abs(odd))
    assert lazy.abs(odd).sum() == pytest.approx(np.abs(odd).sum())
    assert lazy.abs(b"abc").tolist() == [97, 98, 99]
    assert lazy.abs(memoryview(bytearray(b"\xff\x01")).cast("b")).tolist() == [1, 1]
    assert lazy.abs([-1, 2]).tolist() == [1, 2]
    with pytest.raises(BufferError):
        held = lazy.abs(raw)
        raw.append(1)
    del held


@pytest.mark.parametrize(
    ("x", "slug"),
    [
        *((x, "lazy-dimensions") for x in (np.zeros((2, 2)), np.float64(1))),
        *((np.zeros(2, kind), "lazy-kind") for kind in ("f2", "c16", ">f8", [("a", "f8")], "U1", "O")),
    ],
)
def test_what_no_vector_is_made_of(x, slug):
    with refused(slug):
        lazy.abs(x)


def test_indices():
    y = lazy.abs(np.array([-1.5, 2, -3]))
    assert (y[0], y[-1], y[np.int64(1)], y.elt(-3)) == (1.5, 3.0, 2.0, 1.5)
    for wrong in (3, -4, 10**30):
        with pytest.raises(IndexError):
            y[wrong]
    with pytest.raises((TypeError, IndexError)):
        y["a"]
    for region, error in (
        ((4, 1, np.empty(1)), IndexError),
        ((0, 3, np.empty(3, "f4")), TypeError),
        ((0, 3, np.empty(2)), TypeError),
        ((0, 1, b"12345678"), (ValueError, BufferError)),
    ):
        with pytest.raises(error):
            y.get_region(*region)


def test_dataptr_once():
    y = lazy.abs(np.arange(-5.0, 5))
    assert y.dataptr_or_null() is None and y.data2 is None
    first = y.dataptr()
    assert first == y.dataptr() == y.dataptr_or_null() == np.asarray(y).ctypes.data
    assert [event[0] for event in y.events] == ["materialize"]


def test_materialized_by_blocks():
    n = 5 * BLOCK // 8 + 3
    x = np.linspace(-1, 1, n)
    y = lazy.abs(x)
    y.materialize(BLOCK // 8, BLOCK // 8 + 1)
    assert y.blocks == (1, 6) and y.state == "lazy" and y.dataptr_or_null() is None
    assert "1/6 blocks" in str(y.inspect()) and y.inspect().state == "partially materialized"
    x[:] = 0
    assert y[BLOCK // 8] != 0 and y[0] == 0, "what is done is read from data2, the rest from the input"
    y.materialize(n - 1)
    y.materialize()
    assert y.blocks == (6, 6) and y.state == "materialized"
    assert [event[6] for event in y.events] == [BLOCK, 24, 4 * BLOCK]


class Gate(lazy.Vector):
    """A provider that waits, fails or counts as told."""

    def __init__(self, length=10, fails=0, wait=None):
        super().__init__(length)
        self.fails, self.wait, self.calls = fails, wait, 0

    def get_region(self, i, n, out):
        self.calls += 1
        if self.wait:
            self.wait()
        if self.fails:
            self.fails -= 1
            raise ZeroDivisionError("as told")
        out[:] = 1.5
        return n


def test_eight_threads_fill_once():
    vector = Gate(wait=lambda: time.sleep(0.05))
    assert len(set(at_once(*[vector.dataptr] * 8))) == 1
    assert vector.calls == 1 and len(vector.events) == 1
    y = lazy.abs(np.linspace(-1, 1, 2_000_000))  # a native recipe
    assert len(set(at_once(*[lambda: (y.dataptr(), y.sum())] * 8))) == 1 and len(y.events) == 1


def test_failure_leaves_it_lazy_and_the_second_try_works():
    vector = Gate(fails=2)
    for ask in (vector.dataptr, lambda: memoryview(vector)):
        with pytest.raises(ZeroDivisionError):
            ask()
        assert vector.state == "lazy" and vector.data2 is None and vector.events == ()
    assert np.asarray(vector).tolist() == [1.5] * 10


def test_waiters_of_a_failed_fill_try_for_themselves():
    vector = Gate(fails=2, wait=lambda: time.sleep(0.03))

    def ask():
        try:
            return vector.dataptr()
        except ZeroDivisionError:
            return "failed"

    told = at_once(*[ask] * 4)
    assert told.count("failed") == 2 and len(set(told)) == 2 and vector.calls == 3


def test_a_failed_block_keeps_those_before():
    n = 3 * BLOCK // 8
    vector = Gate(n)
    vector.materialize(0, 1)
    vector.fails = 1
    with pytest.raises(ZeroDivisionError):
        vector.dataptr()
    assert vector.blocks == (1, 3)
    assert vector.dataptr() and vector.blocks == (3, 3)


def test_who_needs_its_own_elements_is_told():
    vector = Gate()
    vector.wait = vector.dataptr
    with refused("lazy-circle"):
        vector.dataptr()
    assert vector.state == "lazy"


def test_two_threads_that_would_wait_for_each_other():
    left, right, gate = Gate(), Gate(), threading.Barrier(2)

    def waits_for(vector, other):
        def wait():
            if vector.calls == 1:
                gate.wait(10)
            other.dataptr()

        return wait

    left.wait, right.wait = waits_for(left, right), waits_for(right, left)

    def slug(vector):
        try:
            vector.dataptr()
        except InspectorError as error:
            return error.slug
        return ""

    slugs = {slug for slug in at_once(lambda: slug(left), lambda: slug(right)) if slug}
    assert slugs == {"lazy-circle"}


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_does_not_wait_for_a_thread_it_has_not():
    filling, go_on = threading.Event(), threading.Event()

    def wait():
        filling.set()
        go_on.wait(20)

    vector = Gate(wait=wait)
    thread = threading.Thread(target=vector.dataptr)
    thread.start()
    filling.wait(20)
    child = os.fork()
    if child == 0:
        vector.wait = None
        os._exit(0 if np.asarray(vector).tolist() == [1.5] * 10 else 1)
    go_on.set()
    thread.join(20)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert vector.state == "materialized"


def test_an_allocation_that_fails():
    huge = lazy.arange(2**59)
    with pytest.raises(MemoryError):
        huge.dataptr()
    assert huge.state == "lazy" and huge.data2 is None and huge[2**58] == 2**58
    with pytest.raises(OverflowError):
        lazy.arange(2**61)


@pytest.mark.parametrize("answer", [None, 3, 11, -1, "ten", 2**100])
def test_a_short_region_is_named(answer):
    class Answers(lazy.Vector):
        def get_region(self, i, n, out):
            return answer

    with refused("lazy-short-region"):
        Answers(10).dataptr()


@pytest.mark.parametrize(
    ("dtype", "value", "error"),
    [("i1", 200, OverflowError), ("u8", -1, OverflowError), ("i4", 1.5, TypeError), ("f8", "x", TypeError)],
)
def test_an_element_of_another_type(dtype, value, error):
    class One(lazy.Vector):
        def elt(self, i):
            return value

    with pytest.raises(error):
        One(3, dtype)[1]


def test_nothing_to_compute():
    class Empty(lazy.Vector):
        pass

    with refused("lazy-nothing-to-compute"):
        Empty(3)

    class Forgets(lazy.Vector):
        def __init__(self):
            pass

        def elt(self, i):
            return 1

    assert len(Forgets()) == 0 and list(Forgets()) == [] and repr(Forgets())


def test_initialised_once():
    vector = Gate()
    view = memoryview(vector)
    with pytest.raises(RuntimeError):
        lazy.Vector.__init__(vector, 10**9)
    assert view[9] == 1.5


def test_a_provider_that_keeps_out_cannot_write_into_the_vector():
    class Keeps(lazy.Vector):
        def get_region(self, i, n, out):
            self.kept = out
            out[:] = 1
            return n

    vector = Keeps(5)
    array = np.asarray(vector)
    vector.kept[:] = 9
    assert array.tolist() == [1.0] * 5


def test_too_deep():
    y = lazy.abs(np.zeros(3))
    with refused("lazy-too-deep"):
        for _ in range(1000):
            y = lazy.abs(y)
    assert y.depth == _native.LAZY_DEPTH_MAX
    assert y.tolist() == [0, 0, 0]


def changed(vector, budget=10**6):
    return vector.input_changed(budget)[0]


def test_a_change_of_what_was_read_is_seen():
    x = np.linspace(-1, 1, 100_000)
    readings = ("y[777]", "y.get_region(770, 10, np.empty(10))", "y.sum()", "y.max()", "list(y)")
    for read in (*readings, "y.dataptr()", "y[5:90_000].sum()"):
        y = lazy.abs(x)
        assert y.input_changed(100) == (False, 0, 0)
        eval(read)
        assert not changed(y), read
        x[777] += 1e-12
        assert changed(y), read
        assert y.inspect().input == "input changed since"


def test_a_change_of_what_was_not_read_is_nobodys_business():
    x = np.linspace(-1, 1, 100_000)
    y = lazy.abs(x)
    y.get_region(0, 10, np.empty(10))
    x[50_000] = 9
    assert not changed(y) and y[50_000] == 9
    y = lazy.abs(x[::2])
    y.sum()
    x[1] = 5
    assert not changed(y), "an element between"
    x[2] = 5
    assert changed(y)


@settings(max_examples=rounds(60, 600), deadline=None)
@given(st.integers(0, 39_999), st.sampled_from(["i1", "u2", "f4", "f8", "i8"]), st.booleans())
def test_any_single_change_is_seen(at, kind, swap):
    x = (np.arange(40_000) % 101).astype(kind)
    y = lazy.abs(x)
    y.sum()
    if swap:
        other = (at + 1) % 40_000
        x[at], x[other] = x[other].copy(), x[at].copy()
    else:
        x[at] += 1
    assert changed(y)


def test_a_second_reading_sees_it_for_nothing():
    x = np.linspace(-1, 1, 100_000)
    y = lazy.abs(x)
    y.sum()
    x[5] = 3
    y.sum()
    assert y.input_changed(0)[0], "without comparing a block"


def test_the_comparison_is_bounded():
    x = np.ones(1_000_000)
    y = lazy.abs(x)
    y.sum()
    assert y.input_changed(3) == (False, 3, 62)


def test_the_input_is_held_and_let_go():
    x = np.zeros(10)
    before = sys.getrefcount(x)
    y = lazy.abs(x)
    z = y[2:]
    assert sys.getrefcount(x) == before + 1
    del y, z
    assert sys.getrefcount(x) == before


def test_cycles_are_collected():
    class Loop(lazy.Vector):
        def elt(self, i):
            return 0.0

    loop = Loop(3)
    loop.me = lazy.abs(loop)
    loop.view = memoryview(loop.me)
    gone = weakref.ref(loop)
    del loop
    gc.collect()
    assert gone() is None


def test_a_thousand_vectors_leak_nothing():
    x = np.linspace(-1, 1, 50_000)

    def once():
        y = np.sqrt(lazy.abs(x))[::2]
        np.mean(y), np.asarray(y), memoryview(y).release(), y.inspect(), pickle.dumps(lazy.arange(3))
        with pytest.raises(ZeroDivisionError):
            Gate(fails=1).dataptr()

    once()
    gc.collect()
    before, references = len(gc.get_objects()), sys.getrefcount(x)
    rss = resident()
    for _ in range(200):
        once()
    gc.collect()
    assert sys.getrefcount(x) == references
    assert len(gc.get_objects()) - before < 60
    if "INSPECTOR_SANITIZED" not in os.environ:  # a sanitizer keeps what was freed, to watch it
        assert resident() - rss < 8_000_000


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_sizeof_tells_what_is_there():
    y = lazy.abs(np.zeros(100_000))
    assert sys.getsizeof(y) < 1000
    y.dataptr()
    assert 800_000 < sys.getsizeof(y) < 805_000


def test_pickle_writes_the_recipe():
    x = np.linspace(-1, 1, 1000)
    for y in (lazy.arange(10**9), lazy.arange(0.5, 9), lazy.arange(10**9)[::-7], lazy.arange(7, dtype="u1")):
        assert len(pickle.dumps(y)) < 300
        again = pickle.loads(pickle.dumps(y))
        assert again.state == "lazy" and same(elements(again[:20]), elements(y[:20])) and len(again) == len(y)
    y = np.sqrt(lazy.abs(x)[10:])
    y.dataptr()
    again = pickle.loads(pickle.dumps(y))
    assert again.state == "lazy" and same(elements(again), np.sqrt(np.abs(x))[10:])


def test_pickle_of_a_subclass_keeps_its_attributes():
    vector = Gate(4, fails=0)
    vector.extra = "kept"
    again = pickle.loads(pickle.dumps(vector))
    assert type(again) is Gate and again.extra == "kept" and again.tolist() == [1.5] * 4


def test_duplicates_share_data2_until_one_is_written():
    y = lazy.abs(np.arange(-3.0, 3))
    assert y.duplicate().state == "lazy"
    y.dataptr()
    z = y.duplicate()
    assert z.dataptr_or_null() == y.dataptr_or_null() and y.inspect().title == "cow"
    assert z.dataptr(writable=True) != y.dataptr()
    np.frombuffer(memoryview(z), "f8")
    assert z.written and not y.written and y.inspect().title == "owned"


def test_written_vectors_pickle_their_elements():
    y = lazy.abs(np.arange(-3.0, 3))
    struct.pack_into("d", y, 0, 42.0)
    assert y.written and y[0] == 42
    again = pickle.loads(pickle.dumps(y))
    assert again.tolist() == [42, 2, 1, 0, 1, 2]


def test_the_buffer_protocol_materializes_and_counts():
    y = lazy.abs(np.arange(-3, 3, dtype="i4"))
    view = memoryview(y)
    assert (view.readonly, view.format, view.shape, view.strides, view.itemsize) == (True, "i", (6,), (4,), 4)
    assert view.obj is y and y.exports == 1 and view.tolist() == [3, 2, 1, 0, 1, 2]
    second = memoryview(y)
    assert y.exports == 2
    with pytest.raises(BufferError):
        y.dataptr(writable=True)
    view.release()
    second.release()
    assert y.exports == 0 and y.dataptr(writable=True)
    nameless = memoryview(lazy.abs(np.array([-7.0])))
    gc.collect()
    assert nameless[0] == 7.0


def test_dlpack_device_does_not_materialize():
    y = lazy.abs(np.arange(-3.0, 3))
    assert y.__dlpack_device__() == (1, 0) and y.state == "lazy"
    with pytest.raises(BufferError):
        y.__dlpack__(copy=False, max_version=(1, 0))
    with pytest.raises(BufferError):
        y.__dlpack__(dl_device=(2, 0))
    assert y.state == "lazy"


@pytest.mark.parametrize("kind", KINDS)
def test_numpy_takes_dlpack(kind):
    y = lazy.abs(np.array([0, 1, 1], kind))
    array = np.from_dlpack(y)
    assert array.dtype == np.dtype(kind) and array.tolist() == [0, 1, 1]
    if array.ctypes.data == y.dataptr():
        assert not array.flags.writeable and y.exports == 1
    del array
    gc.collect()
    assert y.exports == 0


def test_capsules_nobody_takes():
    y = lazy.abs(np.arange(-3.0, 3))
    references = sys.getrefcount(y)
    capsule = y.__dlpack__(max_version=(1, 0))
    assert y.exports == 1 and "dltensor_versioned" in repr(capsule)
    del capsule
    assert "dltensor_versioned" not in repr(y.__dlpack__())
    assert y.exports == 0 and sys.getrefcount(y) == references
    names = [repr(capsule).split('"')[1] for capsule in y.__arrow_c_array__()]
    assert names == ["arrow_schema", "arrow_array"]
    assert y.exports == 0 and sys.getrefcount(y) == references


@pytest.mark.parametrize("kind", KINDS)
def test_arrow_takes_it(kind):
    pyarrow = pytest.importorskip("pyarrow")
    y = lazy.abs(np.array([0, 1, 1, 0, 1, 0, 0, 1, 1], kind))
    array = pyarrow.array(y)
    assert array.to_pylist() == y.tolist() and array.null_count == 0
    if kind != "?":
        assert array.buffers()[1].address == y.dataptr() and y.exports == 1
    del array
    gc.collect()
    assert y.exports == 0


def test_no_protocol_that_a_hasattr_would_run():
    y = lazy.abs(np.arange(3.0))
    for name in ("__array_interface__", "__array_struct__", "__cuda_array_interface__"):
        assert not hasattr(y, name)
    for name in dir(y):
        if name != "events":
            getattr(y, name)
    assert y.state == "lazy", "no attribute materializes"
