"""Where bytes are and whose they are: every protocol, every kind of holder, and nothing disturbed."""

# SPDX-License-Identifier: MIT
import array
import ctypes
import mmap
import time
from collections.abc import Callable
from typing import Any, ClassVar

import fingerprints
import numpy as np
import pandas as pd
import pytest

from inspector._native import Subject, own_attributes
from inspector.facts.buffer import Buffer, Exposure
from inspector.facts.unknown import Unknown
from inspector.objects.probes.buffer import buffer
from inspector.objects.probes.layout import layout

pytestmark = [pytest.mark.core, pytest.mark.quick]


def looked_at(x: object, ask: bool = False) -> Buffer:
    found = buffer(Subject(x), ask)
    assert found is not None
    return found


def spoken(x: object, ask: bool = False) -> dict[str, Exposure | Unknown]:
    return {row.protocol: row.exposure for row in looked_at(x, ask).spoken}


class Hostile:
    """Lies or raises wherever it is asked."""

    __array_struct__ = 5

    @property
    def __array_interface__(self) -> Any:
        return {"shape": (2,), "typestr": "<f8", "strides": (8, 8), "data": (16, False)}

    def __dlpack__(self) -> Any:
        raise SystemExit(3)

    def __arrow_c_array__(self) -> Any:
        return object(), object()


class SoldOut:
    """Refuses with an error of its own."""

    def __arrow_c_array__(self) -> Any:
        raise LookupError("sold out")


class Plain:
    """An instance that speaks by what was set on it."""

    asked: ClassVar[list[str]] = []

    def __getattr__(self, name: str) -> Any:
        self.asked.append(name)
        raise AttributeError(name)


class Slotted:
    __slots__ = ("__dict__",)


class Unequal:
    """A key that hashes like the protocol's name, and counts when it is compared."""

    compared: ClassVar[list[object]] = []

    def __hash__(self) -> int:
        return hash("__array_interface__")

    def __eq__(self, other: object) -> bool:
        self.compared.append(other)
        return False


@pytest.mark.parametrize("kind", [Plain, Slotted])
def test_a_protocol_set_on_the_instance_is_found_and_asked(kind: type, fingerprint: Any) -> None:
    array, x = np.arange(6.0), kind()
    assert buffer(Subject(x)) is None
    x.__array_interface__ = array.__array_interface__  # type: ignore[attr-defined]
    before = fingerprint(x)
    assert spoken(x) == {"__array_interface__": Unknown("not asked")}
    assert fingerprint(x) == before
    assert spoken(x, ask=True)["__array_interface__"].address == array.ctypes.data
    vars(x)[Unequal()] = 1
    del Unequal.compared[:], Plain.asked[:]
    assert list(spoken(x)) == ["__array_interface__"], "found in the dict, among keys of any kind"
    assert Unequal.compared == Plain.asked == []
    assert np.shares_memory(np.asarray(x), array), "NumPy finds it there too"


def test_a_types_namespace_is_not_its_own_attributes() -> None:
    assert own_attributes(np.ndarray, ("__array_interface__",)) == ()
    assert own_attributes(np, ("ndarray", "nothing")) == ("ndarray",)


def test_lies_and_refusals_become_reasons() -> None:
    found = spoken(Hostile(), ask=True)
    assert all(isinstance(answer, Unknown) for answer in found.values())
    assert "2" in str(found["__array_interface__"]) and "SystemExit" in str(found["DLPack"])
    assert "LookupError: sold out" in str(spoken(SoldOut(), ask=True)["Arrow C data"])


def test_what_is_no_buffer_has_no_column() -> None:
    assert [buffer(Subject(x)) for x in (5, "text", [], object(), int, buffer)] == [None] * 6


def test_an_ndarray_is_read_by_its_struct(fingerprint: Callable[[object], Any]) -> None:
    x = np.arange(12.0).reshape(3, 4)[::-1, ::2]
    before = fingerprint(x)
    fact = looked_at(x)
    assert fingerprint(x) == before, "a memoryview would have left 72 bytes"
    assert isinstance(fact.spoken[0].exposure, Exposure)
    assert fact.spoken[0].exposure.strides_bytes == (-32, 16)
    assert fact.range == fact.spoken[0].exposure.range
    low, high = np.lib.array_utils.byte_bounds(x) if hasattr(np.lib, "array_utils") else np.byte_bounds(x)
    assert not isinstance(fact.range, Unknown)
    assert (fact.range.start, fact.range.stop) == (low, high)
    assert fact.logical_bytes == 48
    assert (fact.owns, fact.readonly) == (False, False)
    assert fact.spoken[1].exposure == Unknown("not asked")


def test_every_numpy_fact_has_its_c_name() -> None:
    x = np.array([[1, 2, 3], [4, 5, 6]], dtype="i8")
    names = dict(looked_at(x).facts)
    assert names == {
        "PyArray_DATA": hex(x.ctypes.data),
        "PyArray_NDIM": "2",
        "PyArray_DIMS": "(2, 3)",
        "PyArray_STRIDES": "(24, 8) bytes",
        "PyArray_DESCR": f"int64 at {id(x.dtype):#x} (borrowed)",
        "PyArray_TYPE": f"{x.dtype.num} (NPY_LONG)",
        "PyArray_ITEMSIZE": "8",
        "PyArray_SIZE": "6",
        "PyArray_BASE": "NULL",
        "NPY_ARRAY_C_CONTIGUOUS": "yes",
        "NPY_ARRAY_F_CONTIGUOUS": "no",
        "NPY_ARRAY_OWNDATA": "yes",
        "NPY_ARRAY_ALIGNED": "yes",
        "NPY_ARRAY_WRITEABLE": "yes",
        "NPY_ARRAY_WRITEBACKIFCOPY": "no",
        "allocator": "default_allocator",
    }


def chain(x: object) -> list[tuple[str, str]]:
    return [(holder.relation, holder.type_name) for holder in looked_at(x).holders]


def test_the_way_to_the_owner() -> None:
    x = np.arange(10)
    content = bytearray(80)
    assert chain(x) == []
    assert chain(x[2:][1:]) == [("base", "ndarray")], "NumPy collapses bases"
    windows = np.lib.stride_tricks.sliding_window_view(x, 3)
    assert chain(windows) == [("base", "DummyArray"), ("base", "ndarray")]
    assert chain(np.frombuffer(content, "f8")) in (
        [("base", "bytearray")],
        [("base", "memoryview"), ("obj", "bytearray")],
    )
    assert chain(np.frombuffer(b"12345678", "f8")) == [("base", "bytes")]
    assert chain(memoryview(content)[2:]) == [("obj", "bytearray")]
    pair = (ctypes.c_int * 2 * 2)()
    assert chain(pair[1]) == [("_b_base_", "c_int_Array_2_Array_2")]
    capsule = np.from_dlpack(x)
    assert chain(capsule)[0] == ("base", "PyCapsule")
    borrowed = looked_at((ctypes.c_int * 2).from_address(ctypes.addressof(pair)))
    assert (borrowed.owns, borrowed.holders) == (False, ())


def test_a_holders_refcount_is_the_true_one() -> None:
    x = np.arange(10)
    view, kept = x[2:], [x, x]
    (holder,) = looked_at(view).holders
    assert holder.references == 4, "the name, the view, and twice the list"
    del kept
    (holder,) = looked_at(view).holders
    assert (holder.references, holder.owns, holder.bytes) == (2, True, 80)


def test_exports_are_counted() -> None:
    content = bytearray(8)
    items = array.array("d", [1.0])
    memory = mmap.mmap(-1, 64)
    for x in (content, items, memory):
        assert looked_at(x).exports == 0
        views = [memoryview(x), memoryview(x)]
        assert looked_at(x).exports == 2
        for view in views:
            view.release()
        assert looked_at(x).exports == 0
    memory.close()
    assert isinstance(looked_at(memory).range, Unknown)
    assert isinstance(looked_at(np.ones(3)).exports, Unknown)
    assert isinstance(looked_at(b"fixed").exports, Unknown)


def test_memmap_is_told_by_its_mapping_not_its_type(tmp_path: Any) -> None:
    path = tmp_path / "prices.bin"
    path.write_bytes(bytes(40_000))
    x = np.memmap(path, dtype="f8", mode="r", offset=4096)
    for view in (x, np.asarray(x), x[10:20]):
        place = looked_at(view).mapping
        assert not isinstance(place, Unknown)
        assert (place.kind, place.file) == ("shared file", str(path))
        assert place.file_offset_bytes == 4096 + view.ctypes.data - x.ctypes.data
    copied = looked_at(x.copy()).mapping
    assert not isinstance(copied, Unknown) and copied.kind in ("heap", "anonymous")
    assert looked_at(x).readonly is True


def test_a_pandas_column_and_who_shares_it() -> None:
    frame = pd.DataFrame({"price": np.arange(1000.0), "size": np.arange(1000.0)})
    assert looked_at(frame).owns is True
    column = frame["price"]
    fact = looked_at(column)
    assert fact.owns is False and fact.holders[0].type_name == "ndarray"
    assert dict(fact.facts)["blocks"] == "float64 (1000,)"
    assert fact.logical_bytes == 8000
    if pd.__version__ >= "3":
        assert dict(fact.facts)["copy-on-write"] == "2 holders: the first write copies"
        del frame
        assert dict(looked_at(column).facts)["copy-on-write"] == "1 holder: a write copies nothing"


def test_looking_at_a_frame_adds_no_holder() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    references = [block.refs for block in frame._mgr.blocks]
    before = [len(found.referenced_blocks) for found in references]
    looked_at(frame)
    layout(Subject(frame))
    assert [len(found.referenced_blocks) for found in references] == before


def test_an_extension_array_of_the_users_is_not_asked() -> None:
    class Loud(pd.api.extensions.ExtensionArray):
        quiet = True

        def __getattribute__(self, name: str) -> Any:
            assert type(self).quiet, f"asked for {name}"
            return super().__getattribute__(name)

        dtype = pd.array([1, 2]).dtype

        def __len__(self) -> int:
            assert type(self).quiet, "asked for its length"
            return 2

    series = pd.Series(pd.array([1, 2]))
    frame_block = series._mgr.blocks[0]
    frame_block.values = Loud()
    Loud.quiet = False
    fact = looked_at(series)
    Loud.quiet = True
    assert dict(fact.facts)["blocks"] == "Loud"
    assert isinstance(fact.range, Unknown)


def test_no_page_is_touched() -> None:
    x = np.zeros(25_000_000)
    start = x.ctypes.data
    before = fingerprints.resident_pages(start, x.nbytes)
    assert before < 10
    subject = Subject(x)
    assert buffer(subject) is not None
    found = layout(subject)
    assert found is not None and not isinstance(found, Unknown)
    assert fingerprints.resident_pages(start, x.nbytes) == before
    later = layout(Subject(x[1_000_000:]))
    assert later is not None and not isinstance(later, Unknown)
    assert isinstance(later.preview, Unknown), "its first page was never touched"
    assert fingerprints.resident_pages(start, x.nbytes) == before


def cpu_seconds(subject: Subject) -> float:
    """Of this thread: other processes of the machine do not count."""
    start = time.thread_time()
    for _ in range(20):
        buffer(subject)
        layout(subject)
    return time.thread_time() - start


@pytest.mark.parametrize(
    ("small", "large"),
    [
        (lambda: np.zeros(10**3, "u1"), lambda: np.zeros(10**8, "u1")),
        (lambda: pd.DataFrame(np.zeros((10**3, 10))), lambda: pd.DataFrame(np.zeros((10**6, 10)))),
    ],
    ids=["ndarray", "frame"],
)
def test_the_cost_does_not_grow_with_the_payload(small: Callable[[], Any], large: Callable[[], Any]) -> None:
    few, many = Subject(small()), Subject(large())
    for _ in range(5):
        rounds = [(cpu_seconds(few), cpu_seconds(many)) for _ in range(20)]
        ratio = min(row[1] for row in rounds) / min(row[0] for row in rounds)
        if ratio < 1.2:
            return
    raise AssertionError(ratio)
