"""Operations beside those of trace_corpus.py, chosen to be hard; more are in trace_corpus_further.py."""

from __future__ import annotations

import array
import bz2
import copy
import ctypes
import io
import mmap
import tempfile
import zlib
from typing import Any

import numpy as np
from trace_corpus import (
    CASES,
    FFI,
    Case,
    N,
    Table,
    after_an_error,
    column,
    filled,
    fixed,
    frame,
    in_thread,
    matrix,
    numbers,
    octets,
    polar,
    polars_frame,
    series,
    table,
    tensor,
)

# ----- sources --------------------------------------------------------------------------------------


def fortran() -> Any:
    return np.asfortranarray(matrix())


def truths() -> Any:
    return np.arange(8 * N) % 3 == 0


def records() -> Any:
    made = np.zeros(N, [("a", "i4"), ("b", "f8"), ("c", "S4")])
    made["a"], made["b"] = range(N), numbers()
    return made


def dates() -> Any:
    return np.arange(N).astype("M8[s]")


def mapped() -> Any:
    """Of a file, which is there before the trace."""
    with tempfile.NamedTemporaryFile(delete=False) as file:
        made = np.memmap(file.name, "f8", "w+", shape=(N,))
    made[:] = numbers()
    return made


def zones() -> Any:
    import pandas

    return pandas.Series(pandas.date_range("2020-01-01", periods=N, freq="h", tz="UTC"))


def nulls() -> Any:
    import pyarrow

    return pyarrow.array([None if i % 7 == 0 else float(i) for i in range(N)])


def bitmap() -> Any:
    import pyarrow

    return pyarrow.array(np.arange(16 * N) % 3 == 0)


def chunks() -> Any:
    import pyarrow

    return pyarrow.chunked_array([column(), column()])


def lists() -> Any:
    import pyarrow

    return pyarrow.FixedSizeListArray.from_arrays(column(), 2)


def cube() -> Any:
    return tensor().view(16, 16, 16)


def c_doubles() -> Any:
    return (ctypes.c_double * N)(*range(1, N + 1))


def pixels() -> Any:
    return np.random.default_rng(1).integers(0, 255, (64, 128), dtype="u1")


def image() -> Any:
    from PIL import Image

    return Image.fromarray(pixels())


def element() -> Any:
    from lxml import etree

    root = etree.Element("root")
    etree.SubElement(root, "a").text = "x" * 9000
    return root


def sparse() -> Any:
    import scipy.sparse

    return scipy.sparse.random(300, 300, 0.2, "csr", random_state=1)


def dataset() -> Any:
    import h5py

    return h5py.File(io.BytesIO(), "w").create_dataset("x", data=numbers())


# ----- operations -----------------------------------------------------------------------------------


def scratch() -> str:
    with tempfile.NamedTemporaryFile(delete=False) as file:
        return file.name


def resized(a: Any) -> Any:
    made = a.copy()
    made.resize(2 * N, refcheck=False)
    return made


def locked(a: Any) -> Any:
    view = a.view()
    view.flags.writeable = False
    return view


def put_few(a: Any) -> Any:
    np.put(a, [0, 1, 2], [9.0, 9.0, 9.0])
    return a


def through_file(a: Any) -> Any:
    path = scratch()
    a.tofile(path)
    return np.fromfile(path)


def saved(t: Any) -> Any:
    import torch

    file = io.BytesIO()
    torch.save(t, file)
    file.seek(0)
    return torch.load(file)


def written_map(b: Any) -> Any:
    made = mmap.mmap(-1, len(b))
    made.write(bytes(b))
    return memoryview(made)


def memcpy(c: Any) -> Any:
    """By the C library's own function, which no array's library sees."""
    made = np.zeros(N)
    ctypes.CDLL(None).memcpy(ctypes.c_void_p(made.ctypes.data), c, ctypes.c_size_t(8 * N))
    return made


def blosc(a: Any) -> Any:
    import numcodecs

    return numcodecs.Blosc().decode(numcodecs.Blosc().encode(a))


def doubled(a: Any) -> Any:
    import numba

    return numba.njit(lambda x: x * 2)(a)


def a_part(a: Any) -> Any:
    import numba

    return numba.njit(lambda x: x[10:3000])(a)


def _module(name: str) -> Any:
    return __import__(name, fromlist=["*"])


NUMPY: Table = {
    "asarray copy=False": lambda a: np.asarray(a, copy=False),
    "asarray copy=True": lambda a: np.asarray(a, copy=True),
    "require C": lambda a: np.require(a, requirements=["C", "A"]),
    "require writeable of what is not": lambda a: np.require(np.frombuffer(a.tobytes()), requirements="W"),
    "moveaxis, kept order": lambda a: np.moveaxis(a.reshape(64, 64), 0, 1).copy("K"),
    "last of a split": lambda a: np.split(a, 2)[1],
    "vstack": lambda a: np.vstack((a, a)),
    "flip": lambda a: np.flip(a),
    "rot90": lambda a: np.rot90(a.reshape(64, 64)),
    "clip out=itself": lambda a: np.clip(a, 1.2, 1.8, out=a),
    "resize": lambda a: np.resize(a, (2, N)),
    "resized": resized,
    "put few": put_few,
    "broadcast_arrays": lambda a: np.broadcast_arrays(a.reshape(64, 64), a[:64])[1],
    "meshgrid": lambda a: np.meshgrid(a[:64], a[:64])[0],
    "fromiter": lambda a: np.fromiter(a, "f8"),
    "view of bytes": lambda a: a[100:].view("u1"),
    "negative strides reshaped": lambda a: a[::-1].reshape(64, 64),
    "negative strides made contiguous": lambda a: np.ascontiguousarray(a[::-1]),
    "a masked array's compressed": lambda a: np.ma.masked_greater(a, 1.5).compressed(),
    "a masked array's copy": lambda a: np.ma.masked_array(a, copy=True).data,
    "read-only view": locked,
    "getfield": lambda a: a.getfield("f4", 4),
    "asarray of a recarray": lambda a: np.asarray(a.view([("x", "f8"), ("y", "f8")]).view(np.recarray)),
    "sort in place": lambda a: (a.sort(), a)[1],
    "copy of every third": lambda a: a[::3].copy(order="K"),
    "take that wraps": lambda a: a.take([0] * N, mode="wrap"),
    "permutation": lambda a: np.random.default_rng(1).permutation(a),
    "putmask": lambda a: filled(lambda: np.zeros(N), lambda o: np.putmask(o, np.ones(N, bool), a)),
    "slice assigned": lambda a: filled(lambda: np.zeros(N), lambda o: o.__setitem__(slice(None), a)),
    "from_dlpack copy=True": lambda a: np.from_dlpack(a, copy=True),
    "as_ctypes": lambda a: np.frombuffer(np.ctypeslib.as_ctypes(a)),
    "concatenate of one": lambda a: np.concatenate([a]),
    "ellipsis": lambda a: a[...],
    "deepcopy": lambda a: copy.deepcopy(a),
    "through a file": through_file,
    "array.array": lambda a: array.array("d", a),
    "cffi from_buffer": lambda a: FFI.from_buffer("double[]", a),
}
FORTRAN: Table = {
    "ravel K": lambda a: a.ravel("K"),
    "ravel C": lambda a: a.ravel(),
    "ascontiguousarray": lambda a: np.ascontiguousarray(a),
    "reshape F": lambda a: a.reshape(-1, order="F"),
    "tobytes A": lambda a: a.tobytes("A"),
}
TRUTHS: Table = {"view": lambda a: a.view("u1"), "to ints": lambda a: a.astype("i8"), "not": lambda a: ~a}
RECORDS: Table = {
    "a field": lambda a: a["b"],
    "copy of a field": lambda a: a["b"].copy(),
    "two fields": lambda a: a[["a", "c"]],
    "sorted": lambda a: np.sort(a, order="b"),
}
DATES: Table = {
    "as ints": lambda a: a.view("i8"),
    "to ms": lambda a: a.astype("M8[ms]").view("i8"),
    "minus": lambda a: (a - a[0]).view("i8"),
}
MAPPED: Table = {
    "slice": lambda a: a[10:900],
    "np.array": lambda a: np.array(a),
    "mapped again": lambda a: np.memmap(a.filename, "f8", "r", shape=(N,)),
    "mapped copy-on-write": lambda a: np.memmap(a.filename, "f8", "c", shape=(N,)),
    "fromfile": lambda a: (a.flush(), np.fromfile(a.filename))[1],
}
BYTES: Table = {
    "decompressed": lambda b: zlib.decompress(zlib.compress(b)),
    "bz2": lambda b: bz2.decompress(bz2.compress(b)),
    "hex": lambda b: b.hex(),
    "toreadonly": lambda b: memoryview(b).toreadonly(),
    "backwards": lambda b: memoryview(b)[::-1],
    "three axes": lambda b: memoryview(b).cast("B", (2, 64, 64)),
    "readinto": lambda b: filled(lambda: bytearray(8192), lambda o: io.BytesIO(b).readinto(o)),
    "reversed in place": lambda b: (b.reverse(), b)[1],
    "an int and back": lambda b: int.from_bytes(b, "little").to_bytes(8192, "little"),
    "an anonymous map": written_map,
}
CTYPES: Table = {
    "as_array": lambda c: np.ctypeslib.as_array(c),
    "frombuffer": lambda c: np.frombuffer(c),
    "np.array": lambda c: np.array(c),
    "bytes": lambda c: bytes(c),
    "memoryview": lambda c: memoryview(c),
    "memmove": lambda c: filled(lambda: (ctypes.c_double * N)(), lambda o: ctypes.memmove(o, c, 8 * N)),
    "string_at": lambda c: ctypes.string_at(c, 8 * N),
    "from_buffer_copy": lambda c: type(c).from_buffer_copy(c),
    "from_address": lambda c: type(c).from_address(ctypes.addressof(c)),
    "slice": lambda c: np.array(c[:]),
    "a cast pointer": lambda c: np.ctypeslib.as_array(ctypes.cast(c, ctypes.POINTER(ctypes.c_double)), (N,)),
    "cffi from_buffer": lambda c: FFI.from_buffer("double[]", c),
    "array.array": lambda c: array.array("d", c),
    "memcpy of libc": memcpy,
}
PANDAS: Table = {
    "Index": lambda s: _module("pandas").Index(s),
    "Series copy=True": lambda s: _module("pandas").Series(s, copy=True),
    "astype of the same": lambda s: s.astype("float64"),
    "shift": lambda s: s.shift(1),
    "where": lambda s: s.where(s > 1.5),
    "to_frame": lambda s: s.to_frame("q"),
}
ZONES: Table = {
    "other zone": lambda s: s.dt.tz_convert("Europe/Paris").dt.tz_localize(None).astype("int64"),
}
FRAME: Table = {
    "head": lambda d: d.head(2000),
    "renamed": lambda d: d.rename(columns={"x": "z"}),
    "concat": lambda d: _module("pandas").concat([d, d]),
    "every second row": lambda d: d.iloc[::2],
    "one column, copy=False": lambda d: d[["x"]].to_numpy(copy=False),
    "twice transposed": lambda d: d.T.T,
    "reset_index": lambda d: d.reset_index(drop=True),
}
NULLS: Table = {
    "to_numpy": lambda p: p.to_numpy(zero_copy_only=False),
    "to_pandas": lambda p: p.to_pandas(),
    "slice": lambda p: p.slice(13, 2001),
}
BITMAP: Table = {
    "to_numpy": lambda p: p.to_numpy(zero_copy_only=False),
    "to_pandas": lambda p: p.to_pandas(),
    "slice": lambda p: p.slice(8, 4096),
}
CHUNKS: Table = {
    "combined": lambda p: p.combine_chunks(),
    "chunk": lambda p: p.chunk(1),
    "slice over both": lambda p: p.slice(N - 1000, 2000),
    "to_numpy": lambda p: p.to_numpy(),
    "to_pandas": lambda p: p.to_pandas(),
    "in a table": lambda p: _module("pyarrow").table({"x": p}),
}
LISTS: Table = {"values": lambda p: p.values, "flattened": lambda p: p.flatten()}
ARROW_TABLE: Table = {
    "to_pandas split_blocks": lambda t: t.to_pandas(split_blocks=True),
    "to_pandas zero_copy_only": lambda t: t.to_pandas(split_blocks=True, zero_copy_only=True),
    "a batch": lambda t: t.to_batches()[0],
    "concat": lambda t: _module("pyarrow").concat_tables([t, t]),
    "pandas by Arrow": lambda t: t.to_pandas(types_mapper=_module("pandas").ArrowDtype),
}
TORCH: Table = {
    "expand, then contiguous": lambda t: t.expand(3, N).contiguous(),
    "numpy of every second": lambda t: t[::2].numpy(),
    "to copy=True": lambda t: t.to(t.dtype, copy=True),
    "last of a chunk": lambda t: t.chunk(2)[1],
    "view of ints": lambda t: t.view(_module("torch").int64),
    "complex view": lambda t: _module("torch").view_as_real(_module("torch").view_as_complex(t.view(-1, 2))),
    "clamp_": lambda t: t.clamp_(1.2, 1.4),
    "clamp out=": lambda t: _module("torch").clamp(t, 1.2, 1.4, out=_module("torch").empty_like(t)),
    "index_put_": lambda t: t.index_put_((_module("torch").arange(3),), t.new_zeros(3)),
    "numpy force=True": lambda t: t.numpy(force=True),
    "asarray copy=False": lambda t: _module("torch").asarray(t, copy=False),
    "np.from_dlpack": lambda t: np.from_dlpack(t),
    "part of its storage": lambda t: t.new_empty(0).set_(t.untyped_storage(), 5, (100, 20), (20, 1)),
    "moved to shared memory": lambda t: t.clone().share_memory_(),
    "saved and loaded": saved,
    "detach, numpy, after an error": lambda t: after_an_error(
        lambda: t.requires_grad_(True).detach().numpy(), lambda: t.requires_grad_(True).numpy()
    ),
    "flatten of transposed": lambda t: t.view(64, 64).T.flatten(),
    "expand, numpy": lambda t: t.view(1, -1).expand(3, N).numpy(),
    "from_dlpack in a thread": lambda t: in_thread(lambda: _module("torch").from_dlpack(t)),
}
CUBE: Table = {
    "permute": lambda t: t.permute(2, 0, 1),
    "permute, contiguous": lambda t: t.permute(2, 0, 1).contiguous(),
    "channels last": lambda t: t.view(1, 16, 16, 16).contiguous(memory_format=_module("torch").channels_last),
    "numpy of permuted": lambda t: t.permute(2, 0, 1).numpy(),
    "reshape that copies": lambda t: t.permute(2, 0, 1).reshape(-1),
}
POLARS: Table = {
    "to_numpy of a slice": lambda q: q[5:2000].to_numpy(),
    "to_torch": lambda q: q.to_torch(),
    "concat, rechunked": lambda q: _module("polars").concat([q, q], rechunk=True),
    "cast to the same": lambda q: q.cast(_module("polars").Float64),
    "gather": lambda q: q.gather(list(range(2000))),
    "slice to arrow": lambda q: q.slice(5).to_arrow(),
    "slice in a thread": lambda q: in_thread(lambda: q.slice(5, 2000)),
}
POLARS_FRAME: Table = {
    "from_numpy of its matrix": lambda q: _module("polars").from_numpy(q.to_numpy()),
    "a column of its matrix": lambda q: _module("polars").Series(q.to_numpy()[:, 0].copy()),
    "pandas of its matrix": lambda q: _module("pandas").DataFrame(q.to_numpy()),
    "torch of its matrix": lambda q: _module("torch").from_numpy(q.to_numpy()),
    "frame of pandas": lambda q: _module("polars").DataFrame(q.to_pandas()),
    "sorted": lambda q: q.sort("x"),
}
IMAGE: Table = {
    "tobytes": lambda i: i.tobytes(),
    "asarray": lambda i: np.asarray(i),
    "rotated": lambda i: i.rotate(90, expand=True).tobytes(),
}
ELEMENT: Table = {
    "tostring": lambda e: _module("lxml.etree").tostring(e),
    "tostring of a str": lambda e: _module("lxml.etree").tostring(e, encoding="unicode"),
    "text": lambda e: e[0].text,
}
SPARSE: Table = {
    "data": lambda m: m.data,
    "toarray": lambda m: m.toarray(),
    "another type's data": lambda m: m.astype("f4").data,
    "transposed data": lambda m: m.T.data,
}
DATASET: Table = {
    "all": lambda d: d[:],
    "part": lambda d: d[10:2000],
    "read_direct": lambda d: filled(lambda: np.empty(N), lambda o: d.read_direct(o)),
}
OTHERS: Table = {"blosc": blosc, "numba: twice": doubled, "numba: a part": a_part}
OTHERS_BYTES: Table = {
    "msgpack": lambda b: _module("msgpack").unpackb(_module("msgpack").packb(b)),
    "zmq frame": lambda b: _module("zmq").Frame(b).bytes,
    "zmq frame, no copy": lambda b: _module("zmq").Frame(b, copy=False).buffer,
}


def _repaint(picture: Any) -> None:
    picture.putpixel((0, 0), (picture.getpixel((0, 0)) + 7) % 256)


TABLES: tuple[tuple[str, Any, Table, Any], ...] = (
    ("numpy", numbers, NUMPY, None),
    ("numpy", fortran, FORTRAN, None),
    ("numpy", truths, TRUTHS, None),
    ("numpy", records, RECORDS, None),
    ("numpy", dates, DATES, None),
    ("numpy", mapped, MAPPED, None),
    ("bytes", octets, BYTES, None),
    ("ctypes", c_doubles, CTYPES, None),
    ("pandas", series, PANDAS, None),
    ("pandas", zones, ZONES, None),
    ("pandas", frame, FRAME, None),
    ("pyarrow", nulls, NULLS, None),
    ("pyarrow", bitmap, BITMAP, None),
    ("pyarrow", chunks, CHUNKS, None),
    ("pyarrow", lists, LISTS, None),
    ("pyarrow", table, ARROW_TABLE, None),
    ("torch", tensor, TORCH, None),
    ("torch", cube, CUBE, None),
    ("polars", polar, POLARS, None),
    ("polars", polars_frame, POLARS_FRAME, None),
    ("others", image, IMAGE, _repaint),
    ("others", element, ELEMENT, lambda e: setattr(e[0], "text", "y" * 9000)),
    ("others", sparse, SPARSE, lambda m: m.data.__iadd__(1)),
    ("others", dataset, DATASET, lambda d: d.__setitem__(slice(None), 0)),
    ("others", numbers, OTHERS, None),
    ("others", fixed, OTHERS_BYTES, None),
)
MORE = tuple(
    Case(library, f"{make.__name__}, more: {name}", make, operation, True, change)
    for library, make, operations, change in TABLES
    for name, operation in operations.items()
)
EVERY = (*CASES, *MORE)
