"""Each state of the vocabulary on a real object of Python, NumPy or pandas; no look disturbs it.

Rows of docs/reference/materialization.md that belong to other libraries are tested with their adapters.
"""

# SPDX-License-Identifier: MIT
import array
import asyncio
import ctypes
import functools
import gc
import importlib.util
import io
import itertools
import mmap
import os
import sys
import threading
import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from multiprocessing import shared_memory
from pathlib import Path
from typing import Any

import cffi
import fingerprints
import numpy as np
import pandas as pd
import pytest

import inspector
from inspector import lazy
from inspector.facts.amounts import size
from inspector.facts.materialization import STATES, Materialization, Residency
from inspector.facts.unknown import Unknown
from inspector.objects.layers import plain

pytestmark = [pytest.mark.core, pytest.mark.contract, pytest.mark.quick]
PANDAS_3 = int(pd.__version__.partition(".")[0]) >= 3


def seen(x: Any) -> Materialization:
    """The fact, after the look was found to have left everything as it was."""
    inspector.materialization(x)  # the first time may fill the library's own caches
    before = fingerprints.fingerprint(x)
    fact = inspector.materialization(x)
    assert fingerprints.fingerprint(x) == before
    assert isinstance(fact.state, Unknown) or fact.state in STATES
    return fact


def counted() -> Iterator[int]:
    yield from (1, 2)


def exhausted(x: Any) -> Any:
    for _ in x:
        pass
    return x


def released() -> memoryview:
    made = memoryview(b"gone")
    made.release()
    return made


def closed(x: Any) -> Any:
    x.close()
    return x


def released_buffer() -> Any:
    lent = FFI.from_buffer(bytearray(8))
    FFI.release(lent)
    return lent


def filled() -> Any:
    made = functools.lru_cache(abs)
    made(-1)
    return made


def done() -> Future[int]:
    made: Future[int] = Future()
    made.set_result(1)
    return made


def forced(x: Any) -> Any:
    np.asarray(x)
    return x


class Liar(np.ndarray):
    """Every attribute a look could ask for raises."""

    base = shape = flags = nbytes = property(lambda self: 1 / 0)  # type: ignore[assignment]
    __array_interface__ = property(lambda self: 1 / 0)  # type: ignore[assignment]


FFI = cffi.FFI()
KEPT = np.arange(6.0)
LANGUAGE: dict[str, tuple[Callable[[], Any], str]] = {
    "fresh generator": (counted, "lazy"),
    "finished generator": (lambda: exhausted(counted()), "consumed"),
    "generator closed before it began": (lambda: closed(counted()), "consumed"),
    "list iterator": (lambda: iter([1, 2]), "lazy"),
    "exhausted list iterator": (lambda: exhausted(iter([1])), "consumed"),
    "exhausted range iterator": (lambda: exhausted(iter(range(3))), "consumed"),
    "map": (lambda: map(abs, [1]), "lazy"),
    "tee": (lambda: itertools.tee([1])[0], "lazy"),
    "range": (lambda: range(10**9), "virtual"),
    "dict view": (lambda: {"a": 1}.keys(), "view"),
    "empty cache": (lambda: functools.lru_cache(len), "lazy"),
    "filled cache": (filled, "partially materialized"),
    "memoryview": (lambda: memoryview(bytearray(8)), "view"),
    "released memoryview": (released, "closed"),
    "bytes": (lambda: bytes(range(9)), "owned"),
    "array": (lambda: array.array("d", [1.0]), "owned"),
    "mmap": (lambda: mmap.mmap(-1, 4096), "owned"),
    "closed mmap": (lambda: closed(mmap.mmap(-1, 4096)), "closed"),
    "BytesIO": (lambda: io.BytesIO(bytes(range(100))), "owned"),
    "closed file": (lambda: closed(io.FileIO(os.devnull)), "closed"),
    "closed text file": (lambda: closed(Path(os.devnull).open()), "closed"),  # noqa: SIM115
    "closed buffered file": (lambda: closed(Path(os.devnull).open("rb")), "closed"),  # noqa: SIM115
    "closed BytesIO": (lambda: closed(io.BytesIO(b"abc")), "closed"),
    "released buffer of cffi": (released_buffer, "closed"),
    "memoryview of nothing": (lambda: memoryview(b""), "view"),
    "ndarray that lies": (lambda: np.arange(5.0).view(Liar), "view"),
    "nditer": (lambda: np.nditer([np.arange(3)]), "lazy"),
    "exhausted nditer": (lambda: exhausted(np.nditer([np.arange(3)])), "consumed"),
    "dead weak reference": (lambda: weakref.ref(counted()), "freed"),
    "pending future": (Future, "lazy"),
    "done future": (done, "owned"),
    "ctypes array": (lambda: (ctypes.c_int * 4)(), "owned"),
    "ctypes field": (lambda: (ctypes.c_int * 4 * 2)()[1], "view"),
    "ctypes from_buffer": (lambda: (ctypes.c_int * 2).from_buffer(bytearray(8)), "shared-foreign"),
    "ctypes from_address": (lambda: ctypes.c_double.from_address(KEPT.ctypes.data), "borrowed"),
    "int": (lambda: 10**30, "owned"),
    "list": (lambda: [1], "owned"),
    "lazy vector": (lambda: lazy.abs(KEPT), "lazy"),
    "materialized lazy vector": (lambda: forced(lazy.abs(KEPT)), "owned"),
}


@pytest.mark.parametrize("kind", LANGUAGE)
def test_the_language(kind: str) -> None:
    """The card of each is whole."""
    make, state = LANGUAGE[kind]
    x = make()
    fact = seen(x)
    assert fact.state == state
    assert fact.layers[0].evidence
    assert kind != "ndarray that lies" or fact.logical_bytes == 40
    report = inspector.inspect(x, name="x")
    text = report.drawn(everything=True).to_text()
    assert f"state    {state}" in text and "could not" not in text + report.to_text()
    assert report.to_html() and report.to_json()


def is_refused(x: Any) -> bool:
    """Whether reading raises, as of what is closed."""
    with pytest.raises(ValueError, match=r"closed|released"):
        x.read(1) if hasattr(x, "read") else memoryview(x)
    return True


def is_seen_in(base: Any, x: Any) -> bool:
    before = bytes(base)
    memoryview(x).cast("B")[0] ^= 1
    return bytes(base) != before


def gives(x: Any, text: str) -> bool:
    """What a lazy object's sentence names gives what it says."""
    if "next()" in text:
        return next(x) is not None
    return f": {np.asarray(x).nbytes} B once" in text


def shown(x: Any) -> memoryview:
    if isinstance(x, io.BytesIO):
        return x.getbuffer()
    assert memoryview(x).obj is x
    return memoryview(x)


TRIALS: dict[str, Callable[[Any, str], bool]] = {
    "lazy": gives,
    "consumed": lambda x, text: next(x, None) is None,
    "closed": lambda x, text: is_refused(x),
    "freed": lambda x, text: x() is None and "is gone" in text,
    "cache": lambda x, text: f"Keeps {x.cache_info().currsize} result" in text,
    "view-of": lambda x, text: not len(x) or is_seen_in(next(base_of(x)), x),
    "write-changes": lambda x, text: isinstance(x, mmap.mmap) or is_seen_in(x._b_base_, x),
    "owner": lambda x, text: size(shown(x).nbytes) in text,
    "ended": lambda x, text: x.done() and text.startswith("Done. ") is (x.exception() is None),
    "no-result": lambda x, text: not x.done(),
    "virtual": lambda x, text: sys.getsizeof(type(x)(10**9)) == sys.getsizeof(x),
    "state": lambda x, text: f"Goes over {len(x.operands)} array" in text,
    "weight": lambda x, text: f"{sys.getsizeof(x) + mapped_bytes(x)} B in all" in text,
}
"""Kind of answer -> a trial of what it says, which changes or uses up the object."""


def mapped_bytes(x: Any) -> int:
    """Of the dict that a dict view keeps; 0 for other objects."""
    return sys.getsizeof(gc.get_referents(x)[0]) if hasattr(x, "mapping") else 0


def base_of(x: Any) -> Iterator[Any]:
    for kept in (getattr(x, name, None) for name in ("obj", "_b_base_", "base", "_objects")):
        if kept is not None:  # ctypes keeps memoryviews in a dict
            yield kept if type(kept) is not dict else next(iter(kept.values()))


@pytest.mark.parametrize(
    "kind", set(LANGUAGE) - {"released buffer of cffi", "ndarray that lies", "ctypes from_address"}
)
def test_what_answers_say_of_the_language_is_so(kind: str) -> None:
    x = LANGUAGE[kind][0]()
    for row in inspector.inspect(x, name="x").answers.rows:
        assert TRIALS[row.slug](x, row.text), row.text


async def awaited() -> None:
    """Nothing to wait for."""


async def streamed() -> Any:
    yield 1


def test_coroutines_and_asynchronous_generators() -> None:
    coroutine, stream = awaited(), streamed()
    assert (seen(coroutine).state, seen(coroutine).waits_for) == ("lazy", "await")
    assert (seen(stream).state, seen(stream).waits_for) == ("lazy", "async for")
    coroutine.close()
    assert seen(coroutine).state == "consumed"


def test_futures_and_tasks_of_asyncio() -> None:
    loop = asyncio.new_event_loop()
    try:
        future, task = loop.create_future(), loop.create_task(awaited())
        for x in (future, task):
            assert (seen(x).state, seen(x).waits_for) == ("pending", "await")
        loop.run_until_complete(task)
        future.set_exception(ValueError("lost"))
        assert (seen(task).state, seen(future).state) == ("owned", "owned")
        assert future._log_traceback, "a look does not take the error for seen"  # type: ignore[attr-defined]
        assert isinstance(future.exception(), ValueError)
        cancelled = loop.create_future()
        cancelled.cancel()
        assert seen(cancelled).state == "closed"
    finally:
        loop.close()


def test_iterators_over_a_dict_that_grew_and_after_one_step() -> None:
    grown: dict[int, int] = {1: 1}
    walk = iter(grown)
    grown[2] = 2
    seen(walk)
    with pytest.raises(RuntimeError, match="changed size"):
        next(walk)
    for make in (lambda: zip([1], [2], strict=True), lambda: enumerate([1])):
        made: Any = make()
        assert seen(made).state == "lazy"
        assert next(made), "a look takes nothing"


def test_the_caches_of_a_text() -> None:
    made = "".join(("\u00e9t\u00e9", str(os.getpid())))
    assert evidence(made) == {"hash": "not computed yet", "utf8": "not made yet"}
    assert made.encode() and evidence(made)["utf8"] == "not made yet", "encode() keeps nothing"
    type(made, (), {})  # asks for it as UTF-8, as C code does
    assert evidence(made)["utf8"] == "kept beside the text"
    hash(made)
    assert "hash" not in evidence(made)
    assert "utf8" not in evidence("ascii" + str(os.getpid()))


def evidence(x: Any) -> dict[str, str]:
    """What the first layer says, by place."""
    return {one.place: one.says for one in seen(x).layers[0].evidence if one.place != "type(x)"}


def test_the_words_before_an_instance_are_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert plain.knows_instance_dicts()
    monkeypatch.setattr(plain, "knows_instance_dicts", lambda: False)
    layer = seen(Plain()).layers[1]
    assert isinstance(layer.value, Unknown) and layer.what == "__dict__"


def test_a_cast_frees_only_its_cell() -> None:
    numbers = (ctypes.c_int * 4)()
    pointer = ctypes.cast(numbers, ctypes.POINTER(ctypes.c_int))
    fact = seen(pointer)
    assert fact.retained_bytes == 8 + 16, "the cell, and what it points to, which _objects keeps"
    assert seen(ctypes.pointer(numbers)).retained_bytes == 8 + 16


@pytest.mark.parametrize("lend", [bytearray, lambda n: mmap.mmap(-1, n)])
def test_what_is_lent_is_not_resized(lend: Callable[[int], Any]) -> None:
    made = lend(4096)
    first = memoryview(made)
    second = first[1:]
    assert ("exports", "1") in {(one.place, one.says) for one in seen(made).layers[0].evidence}, "one, shared"
    with pytest.raises(BufferError):
        made.close() if isinstance(made, mmap.mmap) else made.extend(bytes(9000))
    second.release(), first.release()
    assert ("exports", "0") in {(one.place, one.says) for one in seen(made).layers[0].evidence}


def test_a_fresh_mapping_has_no_pages() -> None:
    made = mmap.mmap(-1, 100 * mmap.PAGESIZE)
    assert (seen(made).state, seen(made).resident_bytes) == ("reserved-not-resident", 0)
    made[0] = 1
    assert seen(made).resident_bytes


def test_a_running_generator_is_pending() -> None:
    def looks() -> Iterator[Any]:
        yield inspector.materialization(made)

    made = looks()
    fact = next(made)
    assert (fact.state, fact.waits_for) == ("pending", "next()")
    assert seen(made).state == "lazy"


def test_bytes_of_a_bytesio_are_shared_until_written() -> None:
    content = bytes(range(200)) * 100
    made = io.BytesIO(content)
    fact = seen(made)
    assert fact.state == "copy-on-write pending"
    assert [one.slug for one in fact.findings] == ["shared-copy-on-write"]
    assert made.getvalue() is content
    made.write(b"x")
    assert seen(made).state == "owned"


def test_shared_memory_and_its_close() -> None:
    made = shared_memory.SharedMemory(create=True, size=5000)
    try:
        made.buf[0] = 1
        fact = seen(made)
        assert fact.layers[-1].storage == "shared-memory"
        assert fact.shared_bytes == min(mmap.PAGESIZE, made.size)
    finally:
        made.close()
        made.unlink()
    assert seen(made).state == "closed"


class Plain:
    """Attributes as values before the object, until its dict is asked for."""

    def __init__(self) -> None:
        self.kept = 1

    @functools.cached_property
    def dear(self) -> int:
        return 1


def test_the_instance_dict_is_not_made_by_a_look() -> None:
    made = Plain()
    fact = seen(made)
    assert isinstance(fact.state, Unknown)
    attributes, cached = fact.layers[1:3]
    assert (attributes.value, cached.value) == ("lazy", "lazy")
    assert made.dear == 1 and vars(made)
    attributes, cached = seen(made).layers[1:3]
    assert (attributes.what, cached.value) == ("__dict__", "computed")


def test_a_lazy_module_stays_lazy() -> None:
    spec = importlib.util.find_spec("this")
    assert spec is not None and spec.loader is not None
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert inspector.materialization(module).state == "lazy"
    assert inspector.inspect(module).to_text()
    assert type(module) is not types.ModuleType


# --- NumPy -------------------------------------------------------------------------------------


def test_owned_view_and_foreign() -> None:
    base = np.arange(1000.0)
    assert seen(base).state == "owned"
    assert seen(base[2:]).state == "view"
    assert seen(base[2:][1:]).retained_bytes == base.nbytes
    content = bytes(range(100))
    for source in (content, memoryview(bytearray(content)), (ctypes.c_char * 8)()):
        assert seen(np.frombuffer(source, "u1")).state == "shared-foreign"


def test_strides_of_zero_are_virtual() -> None:
    fact = seen(np.broadcast_to(np.arange(12.0), (1000, 12)))
    assert (fact.state, fact.logical_bytes, fact.span_bytes) == ("virtual", 96_000, 96)
    windows = np.lib.stride_tricks.sliding_window_view(np.arange(10.0), 3)
    assert seen(windows).span_bytes == 80


def test_a_read_only_view_says_so() -> None:
    base = np.arange(6.0)
    view = base[1:]
    view.flags.writeable = False
    assert "WRITEABLE" in {one.place for one in seen(view).layers[0].evidence}


def test_zeros_are_reserved_then_of_zero_pages_then_private() -> None:
    made = np.zeros(64 << 20, "u1")  # above glibc's largest threshold: always mapped anew
    fact = seen(made)
    assert fact.state == "reserved-not-resident"
    assert isinstance(fact.resident_bytes, int) and fact.resident_bytes < made.nbytes // 100
    assert made.sum() == 0
    assert seen(made).state == "zero-page"
    made[:] = 1
    fact = seen(made)
    assert (fact.state, fact.resident_fraction) == ("owned", 1.0)


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_a_memmap_and_what_is_no_memmap(mode: str, tmp_path: Path) -> None:
    path = tmp_path / "numbers.bin"
    np.arange(40_000.0).tofile(path)
    made = np.memmap(path, "f8", mode=mode)  # type: ignore[call-overload]
    for x in (made, made[1:], np.asarray(made)):
        assert seen(x).state == "memory-mapped"
    assert seen(made).resident_bytes == 0
    assert made[0] == 0.0
    after = seen(made)
    assert isinstance(after.file_bytes, int) and after.file_bytes > 0
    assert seen(made.copy()).state == "owned"  # type memmap, in the heap
    if mode == "c":
        made[0] = 5
        assert seen(made).private_bytes == mmap.PAGESIZE


UNOWNED = """
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>
/* As reticulate 1.28 makes an ndarray of a logical matrix: new memory, and a base that holds other bytes. */
static PyObject *leak(PyObject *self, PyObject *base) {
    npy_intp length = 100;
    char *made = malloc(100);
    memset(made, 1, 100);
    PyObject *array = PyArray_New(&PyArray_Type, 1, &length, NPY_BOOL, NULL, made, 0, NPY_ARRAY_CARRAY, NULL);
    if (array && PyArray_SetBaseObject((PyArrayObject *)array, Py_NewRef(base)) < 0) Py_CLEAR(array);
    return array;
}
"""


def test_bytes_that_no_base_covers_are_unowned(specimens: types.ModuleType) -> None:
    leaks = specimens.build("unowned_array", UNOWNED, flags=(f"-I{np.get_include()}",))
    content = np.ones(100, "i4")
    for base in (content, content[5:], bytearray(400)):
        made = leaks.leak(base)
        fact = seen(made)
        assert fact.state == "unowned"
        (found,) = [one for one in fact.findings if one.slug == "unowned-bytes"]
        assert hex(made.__array_interface__["data"][0]) in found.what
    assert "(unowned-bytes)" in inspector.inspect(made, name="made").to_text()
    assert seen(content[5:]).state == "view", "the same base, which covers the bytes"
    assert seen(leaks.leak(object())).state != "unowned", "a base whose bytes nobody knows proves nothing"


def test_kinds_of_bases() -> None:
    class Lends:
        def __init__(self, array: Any) -> None:
            self.kept = array
            self.__array_interface__ = array.__array_interface__

    source = np.arange(100.0)
    memory = mmap.mmap(-1, 800)
    windows = np.lib.stride_tricks.as_strided(source, (3,), (8,))
    foreign = (np.from_dlpack(source), np.asarray(Lends(source)), np.frombuffer(memory, "f8"))
    first = [inspector.inspect(x, name="x").buffer.holders[0].type_name for x in (*foreign, windows)]
    assert first == ["PyCapsule", "Lends", "memoryview", "DummyArray"]
    assert inspector.inspect(foreign[2], name="x").buffer.holders[-1].type_name == "mmap"
    assert seen(foreign[2]).state == "reserved-not-resident" or seen(foreign[2]).state == "shared-foreign"
    assert seen(windows).state == "view" and seen(windows).retained_bytes == 800
    assert [seen(x).span_bytes for x in (*foreign, windows)] == [800, 800, 800, 24]


def test_a_look_does_not_stand_in_the_way_of_a_resize() -> None:
    made = np.arange(10.0)
    seen(made)
    made.resize(20)  # counts references, ours would be one too many
    view = made[3:]
    seen(made), seen(view)
    with pytest.raises(ValueError, match="referenced"):
        made.resize(30)
    assert seen(view).layers[-2].title == "view"


def test_a_delayed_nditer_has_no_buffers_yet() -> None:
    flags: Any = (["buffered", "delay_bufalloc"], [["readonly"]])
    delayed = np.nditer([np.arange(6, dtype="i4")], *flags, op_dtypes=["f8"], casting="safe")
    wrapper = seen(delayed).layers[0]
    assert wrapper.storage == "none" and evidence(delayed)["x.has_delayed_bufalloc"] == "True"
    delayed.reset()
    assert seen(delayed).layers[0].storage == "heap"
    delayed.close()


def test_masks_arenas_and_pointers() -> None:
    bare, masked = np.ma.array([1.0, 2.0]), np.ma.array([1.0, 2.0], mask=[0, 1])
    assert [layer.value for layer in seen(bare).layers if layer.what == "mask"] == ["lazy"]
    assert [layer.value for layer in seen(masked).layers if "mask" in layer.what] == ["computed"]
    assert "dtype.hasobject" in {one.place for one in seen(np.array([[], {}], object)).layers[0].evidence}
    if hasattr(np.dtypes, "StringDType"):
        text = np.array(["x" * 99], dtype=np.dtypes.StringDType())
        assert isinstance(seen(text).retained_bytes, Unknown)


def test_npz_files_read_at_each_asking(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", a=np.arange(3))
    made = np.load(tmp_path / "a.npz")
    assert seen(made).state == "lazy"
    made.close()
    assert seen(made).state == "closed"


@pytest.mark.parametrize("x", [np.zeros(0), np.zeros((3, 0)), np.array(1.5), np.zeros((), "U0")], ids=repr)
def test_no_elements_and_no_dimensions(x: Any) -> None:
    fact = seen(x)
    assert fact.state == "owned"
    assert fact.logical_bytes == x.nbytes
    assert fact.span_bytes == x.nbytes


# --- pandas ------------------------------------------------------------------------------------


def test_columns_share_their_block_until_a_write() -> None:
    frame = pd.DataFrame({"a": np.arange(5.0), "b": np.arange(5.0)})
    assert seen(frame).state == "owned"
    column = frame["a"]
    shared = "copy-on-write pending" if PANDAS_3 else "view"
    assert (seen(column).state, seen(frame).state) == (shared, shared if PANDAS_3 else seen(frame).state)
    del column
    kept = not PANDAS_3 and not pd.get_option("mode.copy_on_write")  # frame._item_cache keeps the column
    assert seen(frame).state == ("view" if kept else "owned")


def test_a_lazy_copy_and_who_splits_it() -> None:
    frame = pd.DataFrame({"a": np.arange(5.0)})
    copy = frame.reset_index(drop=True)
    splits = PANDAS_3 or pd.get_option("mode.copy_on_write")
    shared = "copy-on-write pending" if splits else "owned"
    assert (seen(frame).state, seen(copy).state) == (shared, shared)
    copy.iloc[0, 0] = 9.0
    assert frame.iloc[0, 0] == 0.0
    assert seen(copy).state == "owned"


def test_a_write_to_a_column_and_what_the_mode_says() -> None:
    frame = pd.DataFrame({"a": [1, 2]})
    column = frame["a"]
    off = not PANDAS_3 and not pd.get_option("mode.copy_on_write")
    fact = inspector.inspect(frame, name="frame")
    said = dict(fact.buffer.facts)["copy-on-write"]
    assert said.startswith("off" if off else "2 holders")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas 2 says that 3 will not write to the frame
        column.iloc[0] = 9
    assert frame["a"].tolist() == ([9, 2] if off else [1, 2])
    if off:
        assert seen(frame).state != "copy-on-write pending", "its holders are told, its writes are not"


@pytest.mark.skipif(PANDAS_3, reason="cannot be installed beside pandas 3: the option went away in it")
def test_pandas_2_with_copy_on_write_on() -> None:
    with pd.option_context("mode.copy_on_write", True):
        frame = pd.DataFrame({"a": [1, 2]})
        column = frame["a"]
        assert (seen(frame).state, seen(column).state) == ("copy-on-write pending",) * 2


def test_arrays_to_and_from_a_series() -> None:
    numbers = np.arange(5.0)
    shared = pd.Series(numbers, copy=False)
    seen(shared)
    assert inspector.shares(shared, numbers).overlap is True
    view = pd.Series([1.0, 2.0]).to_numpy()
    on = PANDAS_3 or pd.get_option("mode.copy_on_write")
    assert ("WRITEABLE" in evidence(view)) is bool(on)
    assert (inspector.shares(pd.Series(numbers), numbers).overlap is False) is bool(PANDAS_3)


def test_a_range_index_and_its_values() -> None:
    index = pd.RangeIndex(1000)
    before = index.memory_usage()
    fact = seen(index)
    assert (fact.state, fact.logical_bytes, fact.span_bytes) == ("virtual", 8000, 0)
    assert index.values.nbytes == 8000
    assert seen(index).span_bytes == 8000
    assert index.memory_usage() == before, "which is why it is not asked"


def test_tables_of_an_index() -> None:
    index = pd.Index(np.arange(100) * 2)
    assert not [layer for layer in seen(index).layers if layer.what == "hash table"]
    index.get_loc(4)
    (table,) = [layer for layer in seen(index).layers if layer.what == "hash table"]
    assert table.value in ("computed", "lazy")
    several = pd.MultiIndex.from_product([[1, 2], np.arange(1000.0)])
    assert seen(several).span_bytes == sum(part.nbytes for part in (*several.codes, *several.levels))
    assert [layer.value for layer in seen(several).layers if layer.what == "tuples"] == ["lazy"]
    assert len(several.values) == 2000
    assert [layer.value for layer in seen(several).layers if layer.what == "tuples"] == ["computed"]


def test_sparse_categorical_and_arrow() -> None:
    sparse = pd.arrays.SparseArray([0.0] * 999 + [1.0], fill_value=0.0)
    assert seen(sparse).span_bytes == 8
    assert seen(pd.Categorical(["u"] * 100)).span_bytes == 100
    text = seen(pd.Series(["a", None], dtype="string[pyarrow]"))
    assert isinstance(text.span_bytes, int) and text.span_bytes > 0


def test_a_frame_of_many_blocks_is_bounded() -> None:
    frame = pd.concat([pd.DataFrame({i: np.arange(2.0)}) for i in range(300)], axis=1)
    fact = inspector.materialization(frame)
    assert len(fact.layers) <= 18
    blocks = len(frame._mgr.blocks)
    assert blocks == 1 or fact.layers_left_out >= blocks - 16


# --- sums, and what cannot be known ----------------------------------------------------------


def test_the_amounts_add_up() -> None:
    made = np.zeros(4 << 20, "u1")
    made[: 1 << 20] = 1
    assert int(made[3 << 20 :].sum()) == 0
    fact = seen(made[10:])
    kinds = ("private", "zero_page", "file", "shared", "swapped", "absent")
    amounts = [getattr(fact, f"{kind}_bytes") for kind in kinds]
    assert all(isinstance(amount, int) for amount in amounts)
    assert sum(amounts) == fact.span_bytes == made.nbytes - 10
    pages = fact.layers[-1].residency
    assert isinstance(pages, Residency) and len(pages.strip) == 48


def test_a_type_that_nobody_knows_is_opaque() -> None:
    fact = seen(threading.local())
    assert isinstance(fact.state, Unknown)
    assert fact.state.reason.startswith("opaque: no adapter knows")
    assert isinstance(fact.resident_bytes, Unknown)


def test_no_file_stays_open() -> None:
    before = len(os.listdir("/proc/self/fd"))
    for x in (np.arange(10.0), io.BytesIO(b"abc"), counted(), 5):
        inspector.materialization(x)
    assert len(os.listdir("/proc/self/fd")) == before
