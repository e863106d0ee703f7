"""Operations of many libraries whose verdicts are known by a second method; more are in trace_corpus_more.py.

The second method knows nothing of the trace: every byte of the source is flipped where the library itself
says that it lies. What is read from the result before and after tells whether it shares those bytes. It is
run apart, on fresh objects.
"""

from __future__ import annotations

import array
import ctypes
import io
import pickle
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import cffi
import numpy as np

N = 4096
FFI = cffi.FFI()
DOUBLES = ctypes.POINTER(ctypes.c_double)


@dataclass(frozen=True)
class Case:
    """One operation on what `make` gives."""

    library: str
    name: str
    make: Callable[[], Any]
    operation: Callable[[Any], Any]
    hard: bool
    change: Callable[[Any], Any] | None = None
    """What changes a source that does not say where its bytes are; None: `flip` does."""

    def __str__(self) -> str:
        return f"{self.library}: {self.name}"


# ----- the second method ----------------------------------------------------------------------------


def memory(x: Any) -> Iterator[tuple[int, int]]:
    """(address, bytes) of the elements of a source, in the words of its own library."""
    kind = f"{type(x).__module__}.{type(x).__name__}"
    if isinstance(x, np.ndarray):
        yield x.__array_interface__["data"][0], x.nbytes
    elif isinstance(x, array.array):
        yield x.buffer_info()[0], len(x) * x.itemsize
    elif isinstance(x, bytes):
        yield ctypes.cast(ctypes.c_char_p(x), ctypes.c_void_p).value or 0, len(x)
    elif isinstance(x, ctypes.Array):
        yield ctypes.addressof(x), ctypes.sizeof(x)
    elif isinstance(x, bytearray | memoryview):
        yield ctypes.addressof(ctypes.c_char.from_buffer(x)), memoryview(x).nbytes
    elif kind.startswith("torch."):
        yield x.data_ptr(), x.numel() * x.element_size()
    elif kind.startswith("pyarrow.") and hasattr(x, "columns"):
        for column in x.columns:
            yield from memory(column)
    elif kind.startswith("pyarrow."):
        for chunk in x.chunks if hasattr(x, "chunks") else [x]:
            yield chunk.buffers()[-1].address, chunk.buffers()[-1].size
    elif kind.startswith("bitarray."):
        yield x.buffer_info()[:2]
    elif kind.startswith("pandas."):
        for column in [x[name] for name in x] if hasattr(x, "columns") else [x]:
            own = getattr(column.array, "_ndarray", None)
            yield from memory(column.to_numpy() if own is None else own)
    elif kind.startswith("polars."):
        for column in x.get_columns() if hasattr(x, "get_columns") else [x]:
            yield from memory(column.to_numpy())
    else:  # cffi
        yield int(FFI.cast("uintptr_t", FFI.cast("char *", x))), FFI.sizeof(x)


def flip(x: Any) -> None:
    """Every byte of a source another one, in place: what another program's pointer would do."""
    for address, size in set(memory(x)):
        raw = (ctypes.c_uint8 * size).from_address(address)
        raw[:] = bytes(value ^ 0x15 for value in bytes(raw))


def content(x: Any) -> bytes:
    """The bytes of a result, read afresh by its own library."""
    kind = f"{type(x).__module__}.{type(x).__name__}"
    if isinstance(x, np.ndarray | str):
        return x.tobytes() if isinstance(x, np.ndarray) else x.encode()
    if kind.startswith("scipy."):
        return bytes(x.data.tobytes())
    if kind.startswith("torch."):
        return bytes(x.detach().clone().contiguous().numpy().tobytes())
    if kind.startswith("pyarrow.") and hasattr(x, "columns"):
        return b"".join(content(column) for column in x.columns)
    if kind.startswith("pyarrow.") and hasattr(x, "chunks"):
        return b"".join(content(chunk) for chunk in x.chunks)
    if kind.startswith("pyarrow.") and hasattr(x, "to_pybytes"):
        return bytes(x.to_pybytes())
    if kind.startswith("pyarrow."):
        return _numbers_or_text(x, x.to_pylist, zero_copy_only=False)
    if kind.startswith("pandas."):
        return _numbers_or_text(x, lambda: [*map(list, x.items())] if hasattr(x, "columns") else [*x])
    if kind.startswith("polars."):
        return _numbers_or_text(x, x.rows if hasattr(x, "rows") else x.to_list)
    if kind.startswith("bitarray."):
        return bytes(x.tobytes())
    if kind.startswith("_cffi_backend."):
        return bytes(x[:]) if type(x).__name__ == "buffer" else bytes(FFI.buffer(x)[:])
    return bytes(memoryview(x).tobytes()) if not isinstance(x, ctypes.Array) else bytes(x)


def _numbers_or_text(x: Any, listed: Callable[[], Any], **options: Any) -> bytes:
    """The bytes of numbers; of other values, or nested ones, what they say."""
    try:
        values = np.array(x.to_numpy(**options), copy=True)
    except Exception:  # a type that NumPy has no word for
        return repr(listed()).encode()
    return repr(listed()).encode() if values.dtype.hasobject else values.tobytes()


def shares(case: Case) -> bool:
    """Whether the result's bytes change when the source's do."""
    source = case.make()
    result = case.operation(source)
    before = content(result)
    (case.change or flip)(source)
    return content(result) != before


# ----- sources --------------------------------------------------------------------------------------


def numbers() -> Any:
    return np.random.default_rng(7).random(N) + 1


def matrix() -> Any:
    return numbers().reshape(64, 64)


def integers() -> Any:
    return np.random.default_rng(7).integers(1, 1 << 40, N)


def octets() -> Any:
    return bytearray(range(256)) * 32


def fixed() -> Any:
    return bytes(octets())


def words() -> Any:
    return array.array("d", numbers())


def bits() -> Any:
    """Of a library that has no adapter."""
    from bitarray import bitarray

    made = bitarray()
    made.frombytes(bytes(octets()))
    return made


def series() -> Any:
    import pandas

    return pandas.Series(numbers())


def frame() -> Any:
    import pandas

    return pandas.DataFrame({"x": numbers(), "y": numbers()})


def column() -> Any:
    import pyarrow

    return pyarrow.array(numbers())


def table() -> Any:
    import pyarrow

    return pyarrow.table({"x": column(), "y": column()})


def tensor() -> Any:
    import torch

    return torch.from_numpy(numbers()).clone()


def grid() -> Any:
    return tensor().view(64, 64)


def polar() -> Any:
    import polars

    return polars.Series("x", numbers())


def polars_frame() -> Any:
    import polars

    return polars.DataFrame({"x": numbers(), "y": numbers()})


def doubles() -> Any:
    return FFI.new("double[]", numbers().tolist())


# ----- operations -----------------------------------------------------------------------------------


def in_thread(work: Callable[[], Any]) -> Any:
    """The result of a function that another thread called."""
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(work()))
    thread.start()
    thread.join()
    return results[0]


def after_an_error(work: Callable[[], Any], fails: Callable[[], Any]) -> Any:
    """A call that fails, then one that does not."""
    try:
        fails()
    except Exception:
        return work()
    raise AssertionError("it did not fail")


class Caching:
    """What it gives is made once, and kept."""

    def __init__(self, source: Any) -> None:
        self.kept = np.array(source)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.kept


def filled(make: Callable[[], Any], fill: Callable[[Any], Any]) -> Any:
    """An output argument: made first, then filled."""
    out = make()
    fill(out)
    return out


def windows(a: Any) -> Any:
    return np.lib.stride_tricks.sliding_window_view(a, 8)


def out_of_band(a: Any) -> Any:
    """Through pickle protocol 5 (PEP 574), its buffer beside it."""
    buffers: list[pickle.PickleBuffer] = []
    return pickle.loads(pickle.dumps(a, protocol=5, buffer_callback=buffers.append), buffers=buffers)


def saved_and_loaded(a: Any) -> Any:
    file = io.BytesIO()
    np.save(file, a)
    file.seek(0)
    return np.load(file)


Table = dict[str, Callable[[Any], Any]]

NUMPY: Table = {
    "asarray": lambda a: np.asarray(a),
    "array": lambda a: np.array(a),
    "array copy=None": lambda a: np.array(a, copy=None),
    "ascontiguousarray": lambda a: np.ascontiguousarray(a),
    "astype f4": lambda a: a.astype("f4"),
    "astype same": lambda a: a.astype("f8"),
    "astype copy=False": lambda a: a.astype("f8", copy=False),
    "reshape": lambda a: a.reshape(64, 64),
    "ravel": lambda a: a.ravel(),
    "flatten": lambda a: a.flatten(),
    "view": lambda a: a.view("u8"),
    "concatenate": lambda a: np.concatenate([a, a]),
    "repeat": lambda a: a.repeat(2),
    "take": lambda a: a.take(range(0, N, 2)),
    "frombuffer": lambda a: np.frombuffer(a),
    "sort": lambda a: np.sort(a),
    "tobytes": lambda a: a.tobytes(),
    "roll": lambda a: np.roll(a, 5),
    "where": lambda a: np.where(a > 1.5, a, 0),
}
NUMPY_HARD: Table = {
    "lossy astype i1": lambda a: a.astype("i1"),
    "astype f4 of T": lambda a: a.reshape(64, 64).T.astype("f4"),
    "reversed view": lambda a: a[::-1].view(),
    "reversed copy": lambda a: a[::-1].copy(),
    "overlapping windows": lambda a: windows(a).view(),
    "overlapping windows copied": lambda a: windows(a).copy(),
    "broadcast view": lambda a: np.broadcast_to(a, (2, N)).view(),
    "broadcast copy": lambda a: np.broadcast_to(a, (2, N)).copy(),
    "copy in a thread": lambda a: in_thread(a.copy),
    "view in a thread": lambda a: in_thread(a.view),
    "copy after an error": lambda a: after_an_error(a.copy, lambda: a.reshape(3, 5)),
    "view after an error": lambda a: after_an_error(a.view, lambda: a.reshape(3, 5)),
    "take out=": lambda a: filled(lambda: np.zeros(N), lambda out: np.take(a, np.arange(N), 0, out, "clip")),
    "copyto": lambda a: filled(lambda: np.zeros(N), lambda out: np.copyto(out, a)),
    "in place negative": lambda a: np.negative(a, a),
    "kept by a cache": lambda a: np.asarray(Caching(a)),
    "ravel of a transposed matrix": lambda a: a.reshape(64, 64).T.ravel(),
    "ravel F of a transposed matrix": lambda a: a.reshape(64, 64).T.ravel(order="F"),
    "strided asarray": lambda a: np.asarray(a.reshape(64, 64)[:, ::2]),
    "strided to bytes": lambda a: a.reshape(64, 64)[:, ::2].tobytes(),
    "fancy index": lambda a: a[np.arange(0, N, 2)],
    "mask": lambda a: a[a > 1.2],
    "big-endian": lambda a: a.astype(">f8"),
    "byteswap in place": lambda a: a.byteswap(inplace=True),
    "einsum that only turns": lambda a: np.einsum("ij->ji", a.reshape(64, 64)),
    "from_dlpack": lambda a: np.from_dlpack(a),
    "array of a C pointer": lambda a: np.ctypeslib.as_array(a.ctypes.data_as(DOUBLES), (N,)),
    "pickled and read": lambda a: pickle.loads(pickle.dumps(a)),
    "pickled out of band": lambda a: out_of_band(a),
    "nan_to_num copy=False": lambda a: np.nan_to_num(a, copy=False),
    "np.save, then np.load": lambda a: saved_and_loaded(a),
    "a field of a structure": lambda a: a.view([("x", "f8"), ("y", "f8")])["y"],
    "as_strided": lambda a: np.lib.stride_tricks.as_strided(a, (100, 100), (8, 16)),
    "as_strided, few bytes": lambda a: np.lib.stride_tricks.as_strided(a, (10, 10), (8, 16)),
    "ndarray over a buffer": lambda a: np.ndarray((100,), "f8", buffer=a, offset=80, strides=(16,)),
    "diagonal": lambda a: a.reshape(64, 64).diagonal(),
    "overlapping add": lambda a: np.add(a[:-1], 0, out=a[1:]),
    "real of complex": lambda a: a.view("c16").real,
    "lossy to half": lambda a: a.astype("f2"),
    "after an error, a view": lambda a: after_an_error(lambda: a.reshape(64, 64), lambda: a.reshape(7, 7)),
    "put": lambda a: filled(lambda: np.zeros(N), lambda out: np.put(out, np.arange(N), a)),
    "flat": lambda a: a.reshape(64, 64).flat[:],
    "asarray in the other order": lambda a: np.asarray(a.reshape(64, 64), order="F"),
    "require F": lambda a: np.require(a.reshape(64, 64), requirements="F"),
    "asfortranarray of a transposed matrix": lambda a: np.asfortranarray(a.reshape(64, 64).T),
    "reshape that copies": lambda a: a.reshape(64, 64).T.reshape(-1),
    "memoryview cast and read": lambda a: np.frombuffer(memoryview(a).cast("B"), "f8"),
    "asarray of a list": lambda a: np.asarray(a.tolist()),
    "concatenate out=": lambda a: filled(
        lambda: np.zeros(2 * N), lambda out: np.concatenate([a, a], out=out)
    ),
    "data of a masked array": lambda a: np.ma.array(a).data,
}
BYTES: Table = {
    "bytes": lambda b: bytes(b),
    "bytearray": lambda b: bytearray(b),
    "memoryview": lambda b: memoryview(b),
    "frombuffer": lambda b: np.frombuffer(b, "u1"),
    "memoryview.tobytes": lambda b: memoryview(b).tobytes(),
    "memoryview.cast": lambda b: memoryview(b).cast("d"),
    "join": lambda b: b"".join([b, b]),
    "replace": lambda b: b.replace(b"a", b"b"),
    "copy": lambda b: b.copy(),
    "ctypes from_buffer": lambda b: (ctypes.c_char * len(b)).from_buffer(b),
    "ctypes from_buffer_copy": lambda b: (ctypes.c_char * len(b)).from_buffer_copy(b),
    "array of it": lambda b: array.array("B", bytes(b)),
}
BYTES_HARD: Table = {
    "bytes of a slice": lambda b: bytes(memoryview(b)[10:6000]),
    "slice of a view": lambda b: memoryview(b)[10:6000],
    "every second byte": lambda b: memoryview(b)[::2].tobytes(),
    "slice": lambda b: b[10:6000],
    "sum": lambda b: b + b,
    "in a thread": lambda b: in_thread(lambda: bytes(b)),
    "ctypes over it": lambda b: (ctypes.c_char * len(b)).from_buffer(b),
    "ctypes memmove": lambda b: filled(
        lambda: (ctypes.c_char * len(b))(),
        lambda out: ctypes.memmove(out, (ctypes.c_char * len(b)).from_buffer(b), len(b)),
    ),
    "decoded and encoded": lambda b: bytes(b).decode("latin-1").encode("latin-1"),
    "two axes": lambda b: memoryview(b).cast("B", (128, 64)),
    "buffer of a BytesIO": lambda b: io.BytesIO(b).getbuffer(),
    "assigned to a view": lambda b: filled(
        lambda: bytearray(len(b)), lambda out: memoryview(out).__setitem__(slice(None), b)
    ),
    "cffi from_buffer": lambda b: FFI.from_buffer("char[]", b),
    "string_at": lambda b: ctypes.string_at(ctypes.addressof(ctypes.c_char.from_buffer(b)), len(b)),
}
FIXED: Table = {
    "slice of all": lambda b: b[:],
    "slice": lambda b: b[1:],
    "join of one": lambda b: b"".join([b]),
    "value of a BytesIO": lambda b: io.BytesIO(b).getvalue(),
    "buffer of a BytesIO": lambda b: io.BytesIO(b).getbuffer(),
    "translate": lambda b: b.translate(fixed()[:256]),
}
ARRAY: Table = {
    "array of an array": lambda w: array.array("d", w),
    "asarray": lambda w: np.asarray(w),
    "np.array": lambda w: np.array(w),
    "memoryview": lambda w: memoryview(w),
    "bytes": lambda w: bytes(w),
    "frombuffer": lambda w: np.frombuffer(w),
    "tobytes": lambda w: w.tobytes(),
    "copy": lambda w: w.__copy__(),
    "bytearray": lambda w: bytearray(w),
    "cast to bytes": lambda w: memoryview(w).cast("B"),
    "np.array f4": lambda w: np.array(w, "f4"),
    "ctypes from_buffer": lambda w: (ctypes.c_double * len(w)).from_buffer(w),
}
ARRAY_HARD: Table = {
    "every second": lambda w: w[::2],
    "times 2": lambda w: w * 2,
    "strided view": lambda w: np.asarray(memoryview(w)[::2]),
    "array i": lambda w: np.asarray(w).astype("i4"),
    "view in a thread": lambda w: in_thread(lambda: np.asarray(w)),
    "extended by itself": lambda w: filled(lambda: array.array("d"), lambda out: out.extend(w)),
    "lossy to float": lambda w: array.array("f", w),
    "frombuffer of tobytes": lambda w: np.frombuffer(w.tobytes()),
    "cffi from_buffer": lambda w: FFI.from_buffer("double[]", w),
}
PANDAS: Table = {
    "to_numpy": lambda s: s.to_numpy(),
    "to_numpy copy": lambda s: s.to_numpy(copy=True),
    "copy": lambda s: s.copy(),
    "shallow copy": lambda s: s.copy(deep=False),
    "astype": lambda s: s.astype("float32"),
    "every second": lambda s: s[::2],
    "plus 1": lambda s: s + 1,
    "values": lambda s: s.values,
    "reset_index": lambda s: s.reset_index(drop=True),
    "sort_values": lambda s: s.sort_values(),
    "asarray": lambda s: np.asarray(s),
    "rename": lambda s: s.rename("other"),
    "fillna": lambda s: s.fillna(0.0),
    "array": lambda s: s.array,
    "iloc": lambda s: s.iloc[10:3000],
    "Series of an array": lambda s: __import__("pandas").Series(s.to_numpy()),
    "Series of an array, no copy": lambda s: __import__("pandas").Series(s.to_numpy(), copy=False),
}
FRAME: Table = {
    "to_numpy": lambda d: d.to_numpy(),
    "copy": lambda d: d.copy(),
    "column": lambda d: d["x"],
    "transposed": lambda d: d.T,
    "iloc": lambda d: d.iloc[10:3000],
    "mask": lambda d: d[d.x > 1.1],
    "two of its columns": lambda d: d[["y", "x"]],
    "astype float32": lambda d: d.astype("float32"),
    "to arrow": lambda d: __import__("pyarrow").Table.from_pandas(d, preserve_index=False),
    "to_numpy of two types": lambda d: d.assign(i=1).to_numpy(),
    "shallow copy": lambda d: d.copy(deep=False),
    "take": lambda d: d.take(range(2000)),
}
ARROW: Table = {
    "to_numpy": lambda p: p.to_numpy(),
    "slice": lambda p: p.slice(10, 2000),
    "cast": lambda p: p.cast("float32"),
    "take": lambda p: p.take(__import__("pyarrow").array(range(2000))),
    "to_pandas": lambda p: p.to_pandas(),
    "concat": lambda p: __import__("pyarrow").concat_arrays([p, p]),
    "chunked": lambda p: __import__("pyarrow").chunked_array([p, p]),
    "combined": lambda p: __import__("pyarrow").chunked_array([p, p]).combine_chunks(),
    "view": lambda p: p.view("int64"),
    "filter": lambda p: p.filter(__import__("pyarrow.compute").compute.greater(p, 1.3)),
    "from numpy": lambda p: __import__("pyarrow").array(p.to_numpy()),
    "buffer": lambda p: p.buffers()[1],
    "np.array": lambda p: np.array(p),
}
ARROW_HARD: Table = {
    "slice of a cast, in a thread": lambda p: in_thread(lambda: p.cast("float32").slice(5)),
    "cast after an error": lambda p: after_an_error(lambda: p.cast("float32"), lambda: p.cast("date32")),
    "lossy cast": lambda p: p.cast("int32", safe=False),
    "take of a list": lambda p: p.take(list(range(0, N, 2))),
    "field of a struct": lambda p: __import__("pyarrow").StructArray.from_arrays([p], ["x"]).field(0),
    "part of its buffer": lambda p: p.buffers()[1].slice(80, 8000),
    "drop_null": lambda p: p.drop_null(),
    "to_numpy writable": lambda p: p.to_numpy(zero_copy_only=False, writable=True),
    "of its buffers": lambda p: __import__("pyarrow").Array.from_buffers(p.type, len(p), p.buffers()),
    "buffer to bytes": lambda p: p.buffers()[1].to_pybytes(),
    "from_dlpack": lambda p: np.from_dlpack(p),
    "of every second": lambda p: __import__("pyarrow").array(p.to_numpy()[::2]),
}
ARROW_TABLE: Table = {
    "select": lambda t: t.select(["x"]),
    "slice": lambda t: t.slice(10, 2000),
    "to_pandas": lambda t: t.to_pandas(),
    "column": lambda t: t["x"],
    "combine": lambda t: t.combine_chunks(),
}
CFFI: Table = {
    "buffer": lambda c: FFI.buffer(c),
    "frombuffer": lambda c: np.frombuffer(FFI.buffer(c)),
    "bytes of a buffer": lambda c: bytes(FFI.buffer(c)),
    "buffer sliced": lambda c: FFI.buffer(c)[:],
    "new of a list": lambda c: FFI.new("double[]", list(c)),
    "from_buffer": lambda c: FFI.from_buffer("double[]", FFI.buffer(c)),
    "np.array": lambda c: np.array(FFI.buffer(c)),
    "memoryview": lambda c: memoryview(FFI.buffer(c)),
    "bytearray": lambda c: bytearray(FFI.buffer(c)),
    "from_buffer of chars": lambda c: FFI.from_buffer(FFI.buffer(c)),
    "unpack to bytes": lambda c: FFI.unpack(FFI.cast("char *", c), FFI.sizeof(c)),
    "memmove": lambda c: filled(
        lambda: FFI.new("double[]", N), lambda out: FFI.memmove(out, c, FFI.sizeof(c))
    ),
}
CFFI_HARD: Table = {
    "slice": lambda c: c[10:3000],
    "astype of a view": lambda c: np.frombuffer(FFI.buffer(c)).astype("f4"),
    "buffer of a cast": lambda c: FFI.buffer(FFI.cast("char *", c), 8000),
    "view in a thread": lambda c: in_thread(lambda: np.frombuffer(FFI.buffer(c))[3:]),
    "gc": lambda c: FFI.buffer(FFI.gc(c, lambda _: None), FFI.sizeof(c)),
    "unpack to numbers": lambda c: np.array(FFI.unpack(c, N)),
    "memmove to an array": lambda c: filled(
        lambda: np.zeros(N), lambda out: FFI.memmove(FFI.from_buffer(out), c, FFI.sizeof(c))
    ),
}
BITARRAY: Table = {
    "copy": lambda b: b.copy(),
    "slice": lambda b: b[8:40_000],
    "tobytes": lambda b: b.tobytes(),
    "memoryview": lambda b: memoryview(b),
    "bytes": lambda b: bytes(b),
    "sum": lambda b: b + b,
    "invert": lambda b: ~b,
    "frombuffer": lambda b: np.frombuffer(b, "u1"),
    "np.array": lambda b: np.array(memoryview(b)),
    "of a bitarray": lambda b: type(b)(b),
    "over its buffer": lambda b: type(b)(buffer=b),
    "xor in place": lambda b: b.__ixor__(b.copy()),
}
TORCH: Table = {
    "clone": lambda t: t.clone(),
    "float": lambda t: t.float(),
    "to the same": lambda t: t.to(t.dtype),
    "numpy": lambda t: t.numpy(),
    "view": lambda t: t.view(64, 64),
    "detach": lambda t: t.detach(),
    "contiguous": lambda t: t.contiguous(),
    "cat": lambda t: __import__("torch").cat([t, t]),
    "stack": lambda t: __import__("torch").stack((t, t)),
    "expand": lambda t: t.expand(3, N),
    "repeat": lambda t: t.repeat(3),
    "index_select": lambda t: t.index_select(0, __import__("torch").arange(2000)),
    "as_tensor": lambda t: __import__("torch").as_tensor(t.numpy()),
    "tensor": lambda t: __import__("torch").tensor(t.numpy()),
    "sort": lambda t: t.sort().values,
}
TORCH_HARD: Table = {
    "pickled and read": lambda t: pickle.loads(pickle.dumps(t)),
    "every second": lambda t: t[::2],
    "add_": lambda t: t.add_(1),
    "copy_": lambda t: filled(lambda: __import__("torch").zeros(N, dtype=t.dtype), lambda out: out.copy_(t)),
    "mask": lambda t: t[t > 1.4],
    "clone in a thread": lambda t: in_thread(t.clone),
    "flip": lambda t: t.flip(0),
    "lossy to int8": lambda t: t.to(__import__("torch").int8),
    "as_strided": lambda t: __import__("torch").as_strided(t, (10, 100), (1, 2), 3),
    "overlapping windows": lambda t: t.unfold(0, 64, 1),
    "into its other half": lambda t: __import__("torch").mul(t[:2000], 2, out=t[2000:4000]),
    "contiguous of a slice": lambda t: t[::2].contiguous(),
    "frombuffer": lambda t: __import__("torch").frombuffer(memoryview(t.numpy()), dtype=t.dtype),
    "from_dlpack": lambda t: __import__("torch").from_dlpack(t),
    "asarray copy=True": lambda t: __import__("torch").asarray(t.numpy(), copy=True),
    "set_ to its storage": lambda t: t.new_empty(0).set_(t.untyped_storage()),
    "new_tensor of a list": lambda t: t.new_tensor(t.tolist()),
}
GRID: Table = {
    "transposed": lambda g: g.T,
    "transposed contiguous": lambda g: g.T.contiguous(),
    "reshape of transposed": lambda g: g.T.reshape(-1),
    "narrow": lambda g: g.narrow(1, 3, 20),
    "diagonal": lambda g: g.T.narrow(0, 3, 20).clone(),
}
POLARS: Table = {
    "to_numpy": lambda q: q.to_numpy(),
    "to_numpy writable": lambda q: q.to_numpy(writable=True),
    "to_arrow": lambda q: q.to_arrow(),
    "clone": lambda q: q.clone(),
    "cast": lambda q: q.cast(__import__("polars").Float32),
    "plus 1": lambda q: q + 1,
    "slice": lambda q: q.slice(10, 2000),
    "sort": lambda q: q.sort(),
    "rename": lambda q: q.rename("other"),
    "from_arrow": lambda q: __import__("polars").from_arrow(q.to_arrow()),
    "reverse": lambda q: q.reverse(),
    "head": lambda q: q.head(3000),
    "to_frame": lambda q: q.to_frame(),
    "lazy select": lambda q: q.to_frame("x").lazy().select("x").collect()["x"],
    "every second": lambda q: q.gather_every(2),
    "of numpy": lambda q: __import__("polars").Series(q.to_numpy()),
    "frame of it": lambda q: __import__("polars").DataFrame({"x": q}),
    "slice of a slice": lambda q: q[10:3000][5:],
    "to numpy by arrow": lambda q: q.to_arrow().to_numpy(),
}
POLARS_FRAME: Table = {
    "select": lambda q: q.select("x"),
    "column": lambda q: q["x"],
    "filter": lambda q: q.filter(__import__("polars").col("x") > 1.3),
    "to_numpy": lambda q: q.to_numpy(),
    "to_pandas": lambda q: q.to_pandas(),
    "frame of its matrix": lambda q: __import__("polars").DataFrame(q.to_numpy()),
    "through pandas and back": lambda q: __import__("polars").from_pandas(q.to_pandas()),
    "with a column": lambda q: q.with_columns(z=__import__("polars").col("x") * 2).select("z"),
}

TABLES: tuple[tuple[str, Callable[[], Any], Table, bool], ...] = (
    ("numpy", numbers, NUMPY, False),
    ("numpy", numbers, NUMPY_HARD, True),
    ("bytes", octets, BYTES, False),
    ("bytes", octets, BYTES_HARD, True),
    ("bytes", fixed, FIXED, True),
    ("array", words, ARRAY, False),
    ("array", words, ARRAY_HARD, True),
    ("pandas", series, PANDAS, False),
    ("pandas", frame, FRAME, True),
    ("pyarrow", column, ARROW, False),
    ("pyarrow", column, ARROW_HARD, True),
    ("pyarrow", table, ARROW_TABLE, False),
    ("cffi", doubles, CFFI, False),
    ("cffi", doubles, CFFI_HARD, True),
    ("bitarray", bits, BITARRAY, True),
    ("torch", tensor, TORCH, False),
    ("torch", tensor, TORCH_HARD, True),
    ("torch", grid, GRID, True),
    ("polars", polar, POLARS, False),
    ("polars", polars_frame, POLARS_FRAME, False),
)
CASES = tuple(
    Case(library, f"{make.__name__}: {name}", make, operation, hard)
    for library, make, operations, hard in TABLES
    for name, operation in operations.items()
)


# ----- the trace ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Told:
    """What the trace says of the object that the operation gave."""

    copies: tuple[Any, ...]
    unknown: str
    result_bytes: int

    @property
    def verdict(self) -> str:
        """ "shared", "fresh", "unknown", or "mixed" where the blocks of the object differ."""
        if self.unknown or not self.copies:
            return "unknown"
        kinds = {"shared" if copy.verdict in ("shared", "in place") else "fresh" for copy in self.copies}
        return kinds.pop() if len(kinds) == 1 else "mixed"

    def is_what(self, expected: str) -> bool:
        """Of an object's blocks some may be shared, and others new: letters, and where they begin."""
        return self.verdict == expected or (self.verdict == "mixed" and expected == "shared")

    @property
    def names_the_allocator(self) -> bool:
        """Of memory that was given in the trace; blocks under 4 KiB are not recorded."""
        large = [copy for copy in self.copies if copy.span_bytes >= 4096]
        return all(isinstance(copy.allocator, str) for copy in large)


MODULES = {
    "bytes": (),
    "pandas": ("pandas", "pyarrow"),
    "polars": ("polars", "pyarrow"),
    "others": ("lxml", "PIL", "scipy", "h5py", "numcodecs", "msgpack", "zmq", "numba"),
}
"""What is traced beside NumPy where it is not the library alone."""


def told(case: Case) -> Told:
    """One operation under a trace."""
    import inspector
    from inspector.facts.unknown import Unknown

    source = case.make()
    modules = MODULES.get(case.library, (case.library,))
    with inspector.trace("numpy", *modules) as trace:
        result = case.operation(source)
    found = trace.of(result)
    size = len(content(result))
    return Told((), found.reason, size) if isinstance(found, Unknown) else Told(found, "", size)


def judge(cases: tuple[Case, ...]) -> None:
    """The table of docs/benchmarks.md."""
    warnings.simplefilter("ignore")
    right: dict[str, list[bool]] = {}
    hard = named = fresh = 0
    wrong = []
    for case in cases:
        expected, one = "shared" if shares(case) else "fresh", told(case)
        right.setdefault(case.library, []).append(one.is_what(expected))
        hard += case.hard
        if one.verdict == "fresh":
            fresh += 1
            named += one.names_the_allocator
        if not one.is_what(expected):
            wrong.append(f"{case}: {one.verdict}, is {expected}; {one.unknown}")
    print("| library | operations | right |\n|---|---:|---:|")
    for library, answers in right.items():
        print(f"| {library} | {len(answers)} | {sum(answers)} |")
    answers = [answer for some in right.values() for answer in some]
    print(f"| **all**, {hard} of them hard | {len(answers)} | {sum(answers)} |")
    print(f"\nThe allocator of fresh memory is named in {named} of {fresh}.")
    print("".join(f"\n- not right: {line}" for line in wrong))
