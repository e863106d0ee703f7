"""pyarrow on the real library: whose bytes a buffer shows, slices, mapped files, what cannot be told."""

# SPDX-License-Identifier: MIT
import gc
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from asking import Look

import inspector
from inspector.adapters.pyarrow_buffers import PyarrowBuffers
from inspector.adapters.registry import adapter_of
from inspector.facts.unknown import Unknown

pytestmark = pytest.mark.libraries


def test_an_array_over_numpy_names_its_owner(pa: Any, look: Look) -> None:
    n = np.arange(1000.0)
    held = sys.getrefcount(n)
    x = pa.array(n)
    assert sys.getrefcount(n) == held + 1
    told = look(x)
    assert told.state == "shared-foreign" and told.logical_bytes == 8000
    (buffer,) = [layer for layer in told.layers if layer.level == "buffer"]
    assert buffer.spans[0].start == n.ctypes.data and buffer.title == "foreign"
    assert "NumPyBuffer over an ndarray" in {said.says for said in buffer.evidence}
    assert [found.slug for found in told.findings] == ["unnoticed-write"]
    assert adapter_of(type(x)).holds(x)[0][1] is n
    n.flags.writeable = False
    assert look(x).findings == ()


def test_the_pool_owns_what_pyarrow_made(pa: Any, look: Look) -> None:
    told = look(pa.array([1, None, 3]))
    assert told.state == "owned" and told.logical_bytes == 25
    assert [layer.title for layer in told.layers[:3]] == ["owned"] * 3


def test_a_slice_keeps_the_whole_buffer(pa: Any, look: Look) -> None:
    whole = pa.array(range(1_000_000))
    told = look(whole[10:20])
    assert (told.logical_bytes, told.retained_bytes) == (80, 8_000_000)
    assert [found.slug for found in told.findings] == ["large-base"]
    assert told.layers[1].spans[0].start == whole.buffers()[1].address + 80


def test_a_buffer_of_python_bytes_and_its_slice(pa: Any, look: Look) -> None:
    source = bytearray(100)
    for buffer in (pa.py_buffer(source), pa.py_buffer(source).slice(2, 5)):
        told = look(buffer)
        assert told.state == "shared-foreign"
        assert adapter_of(type(buffer)).holds(buffer)[0][1] is source
        assert told.retained_bytes == 100
    with pytest.raises(BufferError):
        source.append(1)


def test_a_mapped_file_and_its_closed_handle(pa: Any, look: Look, tmp_path: Path) -> None:
    with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as file:
        table = pa.table({"a": np.ones(100_000)})
        with pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    allocated = pa.total_allocated_bytes()
    mapped = pa.memory_map(str(tmp_path / "t.arrow"))
    table = pa.ipc.open_file(mapped).read_all()
    told = look(table)
    assert told.state == "memory-mapped" and told.layers[1].storage == "file-mapped"
    assert pa.total_allocated_bytes() == allocated
    mapped.close()
    assert look(mapped).state == "closed"
    assert look(table).state == "memory-mapped" and table.column(0)[5].as_py() == 1.0


def test_a_reader_is_not_read(pa: Any, look: Look) -> None:
    table = pa.table({"a": [1, 2, 3]})
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    assert isinstance(look(reader).state, Unknown)
    assert reader.read_all().num_rows == 3 and reader.read_all().num_rows == 0
    assert isinstance(look(reader).state, Unknown), "an exhausted one shows no flag"


def test_chunks_dictionaries_and_empty_ones(pa: Any, look: Look) -> None:
    chunked = pa.chunked_array([[1.0, 2.0], [3.0]])
    whole, *chunks = (layer.what for layer in look(chunked).layers[:3])
    assert whole == "ChunkedArray of 3, 2 chunks"
    assert chunks == [".chunk(0) float64 (2,)", ".chunk(1) float64 (1,)"]
    codes = pa.array(["a", "b", "a"]).dictionary_encode()
    assert look(codes).layers[0].what == "DictionaryArray of 3"
    for empty in (pa.array([], pa.int64()), pa.table({}), pa.nulls(0)):
        assert look(empty).logical_bytes == 0


def test_an_extension_type_of_the_users_is_not_asked(pa: Any, look: Look) -> None:
    class Kind(pa.ExtensionType):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(pa.int64(), "inspector.kind")

        def __arrow_ext_serialize__(self) -> bytes:
            return b""

        @classmethod
        def __arrow_ext_deserialize__(cls, storage: Any, serialized: bytes) -> Any:
            return cls()

        def __str__(self) -> str:
            raise AssertionError("asked")

        __repr__ = __str__

    assert look(pa.ExtensionArray.from_storage(Kind(), pa.array([1, 2]))).state == "owned"


def test_arrays_without_a_copy_and_those_that_need_one(pa: Any, look: Look) -> None:
    whole = pa.array([1.0, 2.0])
    view = whole.to_numpy()
    told = look(view)
    assert told.state == "shared-foreign"
    assert "WRITEABLE" in {one.place for one in told.layers[0].evidence}
    for copies in (pa.array([1, None]), pa.array([True])):
        with pytest.raises(pa.ArrowInvalid):
            copies.to_numpy()
        look(copies)


def test_arrow_is_found_without_a_call_and_says_what_the_struct_fields_say(pa: Any) -> None:
    def said(x: object, ask: bool) -> dict[str, Any]:
        return {row.protocol: row.exposure for row in inspector.inspect(x, ask=ask).facts["buffer"].spoken}

    numbers = pa.array([1.5, None, 3.5])[1:]
    held = pa.total_allocated_bytes()
    assert said(numbers, ask=False)["Arrow C data"] == Unknown("not asked")
    answer = said(numbers, ask=True)["Arrow C data"]
    assert answer.address == numbers.buffers()[1].address + 8
    assert (answer.shape, answer.strides_bytes, answer.format, answer.itemsize_bytes) == ((2,), (8,), "g", 8)
    assert (answer.readonly, answer.exporter, answer.flags) == (True, "DoubleArray", ("1 nulls",))
    table = pa.table({"a": [1, 2]})
    reader, (batch,) = table.to_reader(), table.to_batches()
    assert "+s" in said(batch, ask=True)["Arrow C data"].reason, "a struct has no bytes itself"
    for x in (table, table.column(0), reader):
        assert said(x, ask=False)["Arrow C stream"] == Unknown("not asked")
        assert "uses it up" in said(x, ask=True)["Arrow C stream"].reason
    assert reader.read_all() == table, "nobody read it before"
    del table, batch, reader, answer, x
    assert pa.total_allocated_bytes() <= held


def test_the_pool_counts_nothing_for_a_look(pa: Any, look: Look) -> None:
    mine, theirs = pa.array([1.0] * 1000), pa.array(np.arange(1000.0))
    before = (pa.total_allocated_bytes(), pa.default_memory_pool().backend_name)
    look(mine), look(theirs), look(pa.table({"a": mine, "b": theirs}))
    assert (pa.total_allocated_bytes(), pa.default_memory_pool().backend_name) == before


def test_views_of_other_libraries_have_them_as_bases(pa: Any, look: Look) -> None:
    import cffi
    import polars
    import torch

    ffi = cffi.FFI()
    numbers = ffi.new("double[]", [1.0, 2.0])
    views = {
        "Tensor": torch.ones(4).numpy(),
        "buffer": np.frombuffer(ffi.buffer(numbers), "f8"),
        "PySeries": polars.Series([1.0, 2.0]).to_numpy(),
    }
    for name, view in views.items():
        assert look(view).state == "shared-foreign", name
        assert name in {one.type_name for one in inspector.inspect(view, name="x").buffer.holders}


def test_an_address_that_nobody_keeps_is_borrowed(pa: Any, look: Look) -> None:
    n = np.arange(1000.0)
    kept, bare = (pa.foreign_buffer(n.ctypes.data, n.nbytes, base) for base in (n, None))
    over = pa.Array.from_buffers(pa.float64(), len(n), [None, bare])
    for x in (kept, bare, bare.slice(8, 8), over):
        told = look(x)
        assert told.state == ("shared-foreign" if x is kept else "borrowed")
        assert ("borrowed-pointer" in [found.slug for found in told.findings]) is (x is not kept)
    assert look(np.frombuffer(bare)).state == "borrowed"


def test_views_of_strings_have_a_state(pa: Any, look: Look) -> None:
    told = look(pa.array(["a", "a long one, not in the view itself"], pa.string_view()))
    assert told.state == "owned"
    assert isinstance(told.logical_bytes, Unknown) or told.logical_bytes > 0


@pytest.mark.parametrize(
    "kind", ["string", "large_string", "int64", "bool_", "decimal", "binary", "dictionary"]
)
def test_a_slice_shows_the_bytes_that_arrow_counts_for_it(pa: Any, kind: str) -> None:
    """Arrow's own `nbytes` leaves out the end of the last text; all else agrees, at each place of a slice."""
    texts = ["x" * (n % 7) if n % 5 else None for n in range(40)]
    whole = {
        "string": lambda: pa.array(texts),
        "large_string": lambda: pa.array(texts, pa.large_string()),
        "int64": lambda: pa.array([None if n % 3 else n for n in range(40)]),
        "bool_": lambda: pa.array([n % 2 == 0 for n in range(40)]),
        "decimal": lambda: pa.array(list(range(40))).cast(pa.decimal128(20)),
        "binary": lambda: pa.array([b"abc"] * 40, pa.binary(3)),
        "dictionary": lambda: pa.array(["a", "b"] * 20).dictionary_encode(),
    }[kind]()
    elements = PyarrowBuffers().elements
    last = {"string": 4, "large_string": 8}.get(kind, 0)
    for start in range(0, 40, 3):
        for length in range(0, 40 - start, 7):
            part = whole.slice(start, length)
            shown = sum(block.size * block.itemsize_bytes for block in elements(part))
            if kind == "dictionary":
                shown -= sum(block.size * block.itemsize_bytes for block in elements(part.dictionary))
                assert shown == length * 4
            else:
                assert shown == part.nbytes + last, (start, length)


def test_a_few_rows_of_a_frame_of_texts_say_what_they_keep(pa: Any) -> None:
    """Checked by deleting: the texts go only with the few rows."""
    pd = pytest.importorskip("pandas", reason="cannot be installed")
    frame = pd.DataFrame(
        {"t": pd.Series(["x" * 10] * 100_000, dtype="string[pyarrow]"), "n": np.arange(100_000)}
    )
    few = frame[10:20]
    (said,) = (
        row.text for row in inspector.inspect(few, name="few").answers.rows if row.slug == "keeps-buffer"
    )
    assert " of its buffers stay; it shows " in said, said
    kept = inspector.inspect(few, name="few").materialization.retained_bytes
    before = pa.total_allocated_bytes()
    del frame
    texts = before - pa.total_allocated_bytes()
    assert texts == 0
    del few
    gone = before - pa.total_allocated_bytes()
    assert gone > 1_000_000 and abs(kept - 800_000 - gone) < 0.01 * kept + 64_000, (kept, gone)


def test_a_slice_in_a_container_says_that_the_array_beneath_stays(pa: Any) -> None:
    """C++ holds the ndarray: no reference of Python leads there."""
    held = (pa.array(np.ones(1_000_000))[:10],)
    refs = sys.getrefcount(held[0])
    told = inspector.inspect(held, name="held").answers.rows[0].text
    assert told.endswith("Of that its arrays keep 8.0 MB which they do not show."), told
    now = sys.getrefcount(held[0])
    assert now == refs


@pytest.mark.parametrize("nested", [False, True])
def test_a_value_says_whether_it_may_keep_its_array(pa: Any, nested: bool) -> None:
    """Checked by deleting the array."""
    before = pa.total_allocated_bytes()
    whole = pa.array([[number] if nested else "x" * 50 for number in range(20_000)])
    one = whole[7]
    (said,) = [row.text for row in inspector.inspect(one, name="one").answers.rows]
    assert said.startswith("One value of Arrow's: it may keep ") is nested, said
    del whole
    gc.collect()
    assert (pa.total_allocated_bytes() - before > 100_000) is nested
