"""Objects that the adapter `pyarrow_buffers` is tried on."""

# SPDX-License-Identifier: MIT
import numpy as np
import pyarrow as pa


def samples():
    """Arrays with nulls, slices, strings; tables, buffers, a reader, files."""
    n = np.arange(10.0)
    shared = pa.array(n)
    yield from (shared, shared[3:5], pa.array([1, None, 3]), pa.array(["a", None]), pa.array([True, False]))
    yield from (pa.array([[1, 2], []]), pa.array(["a", "b", "a"]).dictionary_encode())
    yield pa.array([], pa.int64())
    table = pa.table({"a": n, "b": ["x", None] * 5})
    yield from (table, table.column(0), table.to_batches()[0], pa.table({}))
    yield from (pa.py_buffer(b"bytes"), pa.py_buffer(bytearray(9)).slice(2, 3))
    yield pa.allocate_buffer(64, resizable=True)
    yield pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    yield from (pa.memory_map(__file__), pa.BufferReader(b"bytes"), pa.BufferOutputStream())
    closed = pa.memory_map(__file__)
    closed.close()
    yield closed
