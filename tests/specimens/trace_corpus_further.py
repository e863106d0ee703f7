"""Operations beside those of trace_corpus_more.py: what grows in place, objects of the user's that speak a
protocol, nullable and Arrow's types, wide tables, nothing at all; as a program it prints the table of all."""

from __future__ import annotations

import array
import ctypes
import operator
import pickle
from typing import Any

import numpy as np
from trace_corpus import (
    FFI,
    Case,
    N,
    Table,
    column,
    flip,
    in_thread,
    judge,
    memory,
    numbers,
    octets,
    polar,
    tensor,
    words,
)
from trace_corpus_more import EVERY as BEFORE
from trace_corpus_more import _module, element, sparse

# ----- sources --------------------------------------------------------------------------------------


def nothing() -> Any:
    return np.empty((0, 5))


def masked() -> Any:
    return np.ma.masked_greater(numbers(), 1.5)


def backwards() -> Any:
    return numbers()[::-1]


def objects() -> Any:
    return np.array([object() for _ in range(N)], dtype=object)


class Struct(ctypes.Structure):
    """Two numbers and a long array."""

    _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_double), ("c", ctypes.c_double * N)]


def c_struct() -> Any:
    made = Struct(1, 2.0)
    for i in range(N):
        made.c[i] = i
    return made


def two_axes() -> Any:
    return ((ctypes.c_double * 64) * 64)(*[(ctypes.c_double * 64)(*range(64)) for _ in range(64)])


def nullable() -> Any:
    return _module("pandas").Series([None if i % 7 == 0 else i for i in range(N)], dtype="Int64")


def texts() -> list[str]:
    return [f"a text that is no number {i}" for i in range(N)]


def pandas_texts() -> Any:
    return _module("pandas").Series(texts(), dtype="string[pyarrow]")


def kinds() -> Any:
    return _module("pandas").Series([f"k{i % 32:02d}" for i in range(2 * N)], dtype="category")


def hours() -> Any:
    pandas = _module("pandas")
    return pandas.Series(pandas.date_range("2020-01-01", periods=N, freq="h", tz="Europe/Paris"))


def arrow_texts() -> Any:
    return _module("pyarrow").array(texts())


def dictionary() -> Any:
    return _module("pyarrow").array([f"key{i % 64:03d}" for i in range(2 * N)]).dictionary_encode()


def nested() -> Any:
    return _module("pyarrow").array([[float(i), 1.0, 2.0] for i in range(2000)])


def struct() -> Any:
    return _module("pyarrow").StructArray.from_arrays([column(), column()], ["a", "b"])


def wide() -> Any:
    """More columns than a record tells of."""
    return _module("pyarrow").table({f"c{i}": column() for i in range(12)})


def polars_texts() -> Any:
    return _module("polars").Series("s", texts())


def categories() -> Any:
    polars = _module("polars")
    return polars.Series("c", [f"key{i % 64:03d}" for i in range(2 * N)], dtype=polars.Categorical)


def wide_frame() -> Any:
    return _module("polars").DataFrame({f"c{i}": numbers() for i in range(12)})


# ----- what changes them ----------------------------------------------------------------------------


def _change(address: int, size: int, step: int = 1) -> None:
    raw = (ctypes.c_uint8 * size).from_address(address)
    raw[::step] = bytes(value ^ 1 for value in raw[::step])


def change_arrow(array: Any) -> None:
    """The values: the last buffer of an array of Arrow's; of a dictionary the first byte of each code too."""
    for chunk in getattr(array, "chunks", [array]):
        values = chunk.buffers()[-1]
        if hasattr(chunk, "dictionary"):
            change_arrow(chunk.dictionary)
        _change(values.address, values.size, 4 if hasattr(chunk, "indices") else 1)


def change_fields(array: Any) -> None:
    change_arrow(array.field(0))
    change_arrow(array.field(1))


def change_nullable(series: Any) -> None:
    flip(series.array._data)
    series.array._mask[:] = ~series.array._mask


def change_kinds(series: Any) -> None:
    codes = series.array.codes
    _change(codes.__array_interface__["data"][0], codes.nbytes)


def change_polars(series: Any) -> None:
    """Letters of long texts, or the codes of categories."""
    if series.dtype == _module("polars").Categorical:
        _change(series._s.as_single_ptr(), len(series) * 4, 4)
        return
    for chunk in _module("pyarrow").chunked_array(series).chunks:
        for buffer in chunk.buffers()[2:]:
            _change(buffer.address, buffer.size)


def change_object(instance: Any) -> None:
    _change(ctypes.addressof(instance), ctypes.sizeof(instance))


# ----- operations -----------------------------------------------------------------------------------


class Lent:
    """An object of the user's that lends another's memory by one protocol."""

    def __init__(self, source: Any, *names: str) -> None:
        self.source, self.names = source, names

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__["names"]:
            return getattr(self.source, name)
        raise AttributeError(name)


class Stream:
    """The same for the Arrow C stream, and C array, which are looked up in the class."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.source.__arrow_c_stream__(requested_schema)


class Capsules:
    """An array of Arrow's behind its C interface."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self.source.__arrow_c_array__(requested_schema)


class Copying:
    """What it gives is made anew each time."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.source.copy()


def grown(b: Any) -> Any:
    b += b"x" * 5000
    return b


def repeated(b: Any) -> Any:
    b *= 3
    return b


def one_by_one(b: Any) -> Any:
    for i in range(5000):
        b.append(i % 256)
    return b


def widened(b: Any) -> Any:
    b[10:10] = b[:6000]
    return b


def in_pieces(b: Any) -> Any:
    made = bytearray()
    for i in range(0, len(b), 64):
        made += b[i : i + 64]
    return made


def joined(w: Any) -> Any:
    made = array.array("d")
    made += w
    return made


def lengthened(a: Any) -> Any:
    a.resize(3 * N, refcheck=False)
    return a


NUMPY: Table = {
    "of an array interface": lambda a: np.asarray(Lent(a, "__array_interface__")),
    "of an array struct": lambda a: np.asarray(Lent(a, "__array_struct__")),
    "copy of an array interface": lambda a: np.array(Lent(a, "__array_interface__")),
    "of what copies": lambda a: np.asarray(Copying(a)),
    "lengthened in place": lengthened,
    "a copy, lengthened": lambda a: lengthened(a.copy()),
    "added in place": lambda a: operator.iadd(a, 1),
    "no elements of it": lambda a: a[:0],
    "no elements, copied": lambda a: a[:0].copy(),
    "in four threads": lambda a: [in_thread(lambda: a * 2) for _ in range(4)][3],
    "iterator's operand": lambda a: np.nditer(a).operands[0],
    "flat, strided": lambda a: np.asarray(a[::2].flat),
    "reduceat": lambda a: np.add.reduceat(a, np.arange(N)),
    "in place of objects": lambda a: a.astype(object),
}
EMPTY: Table = {
    "copy": lambda a: a.copy(),
    "turned": lambda a: a.T,
    "joined": lambda a: np.concatenate([a, a]),
    "bytes": lambda a: a.tobytes(),
}
MASKED: Table = {
    "copy": lambda m: m.copy().data,
    "slice": lambda m: m[5:].data,
    "filled": lambda m: m.filled(),
    "asarray": lambda m: np.asarray(m),
}
BACKWARDS: Table = {
    "turned again": lambda a: a[::-1],
    "memoryview": lambda a: memoryview(a),
    "copy K": lambda a: a.copy("K"),
}
OBJECTS: Table = {"copy": lambda o: o.copy(), "slice": lambda o: o[::2]}
BYTES: Table = {
    "grown in place": grown,
    "repeated in place": repeated,
    "appended one by one": one_by_one,
    "widened in the middle": widened,
    "grown in place in a thread": lambda b: in_thread(lambda: grown(b)),
    "extended": lambda b: (b.extend(b"y" * 50_000), b)[1],
    "made of pieces": in_pieces,
    "shortened": lambda b: operator.delitem(b, slice(0, 100)) or b,
    "out of a pickle buffer": lambda b: memoryview(pickle.PickleBuffer(b)),
}
ARRAY: Table = {
    "grown in place": lambda w: operator.iadd(w, array.array("d", [1.0] * 3000)),
    "repeated in place": repeated,
    "joined to an empty one": joined,
    "of a list, in place": lambda w: (w.fromlist([1.0] * 9000), w)[1],
    "inserted": lambda w: (w.insert(0, 1.0), w)[1],
    "swapped in place": lambda w: (w.byteswap(), w)[1],
}
CTYPES: Table = {
    "field": lambda s: s.c,
    "contents of a pointer": lambda s: ctypes.pointer(s).contents,
    "copied": lambda s: type(s).from_buffer_copy(s),
    "field as an array": lambda s: np.ctypeslib.as_array(s.c),
    "pickled": lambda s: pickle.loads(pickle.dumps(s)),
}
TWO_AXES: Table = {
    "row": lambda g: np.ctypeslib.as_array(g[3]),
    "all": lambda g: np.ctypeslib.as_array(g),
    "copied": lambda g: np.array(g),
}
CFFI: Table = {
    "a part": lambda b: FFI.from_buffer("char[]", memoryview(b)[100:8000]),
    "buffer of a part": lambda b: FFI.buffer(FFI.from_buffer("char[]", b) + 100, 5000),
    "text": lambda b: FFI.unpack(FFI.from_buffer("char[]", b), 8000),
}
NULLABLE: Table = {
    "without nulls": lambda s: s.dropna(),
    "renamed": lambda s: s.rename("q"),
    "to floats": lambda s: s.astype("Float64"),
    "without the null mask": lambda s: s.to_numpy("f8", na_value=0),
    "plus 1": lambda s: s + 1,
    "slice": lambda s: s[10:4000],
}
PANDAS_TEXTS: Table = {
    "upper": lambda s: s.str.upper(),
    "slice": lambda s: s[5:3000],
    "plus": lambda s: s + "!",
    "renamed": lambda s: s.rename("q"),
    "every second": lambda s: s[::2],
    "to Arrow": lambda s: _module("pyarrow").array(s),
    "as categories": lambda s: s.astype("category"),
}
KINDS: Table = {
    "codes": lambda s: s.cat.codes,
    "other names": lambda s: s.cat.rename_categories([f"z{i}" for i in range(32)]),
    "copy": lambda s: s.copy(),
    "as texts": lambda s: s.astype("string[pyarrow]"),
}
HOURS: Table = {
    "other zone": lambda s: s.dt.tz_convert("UTC"),
    "whole days": lambda s: s.dt.normalize(),
    "numbers of it": lambda s: s.array.asi8,
    "plus an hour": lambda s: s + _module("pandas").Timedelta("1h"),
}
ARROW_TEXTS: Table = {
    "large": lambda p: p.cast("large_string"),
    "views": lambda p: p.cast("string_view"),
    "bytes": lambda p: p.cast("binary"),
    "upper": lambda p: _module("pyarrow.compute").utf8_upper(p),
    "by its C interface": lambda p: _module("pyarrow").array(Capsules(p)),
    "taken": lambda p: p.take(_module("pyarrow").array(range(3000))),
    "its letters": lambda p: p.buffers()[2],
}
DICTIONARY: Table = {
    "decoded": lambda p: p.dictionary_decode(),
    "indices": lambda p: p.indices,
    "slice": lambda p: p[5:],
    "taken": lambda p: p.take(_module("pyarrow").array(range(5000))),
}
NESTED: Table = {
    "values": lambda p: p.values,
    "flattened part": lambda p: p[10:1500].flatten(),
    "larger offsets": lambda p: p.cast(_module("pyarrow").large_list(_module("pyarrow").float64())),
    "taken": lambda p: p.take(_module("pyarrow").array(range(1500))),
}
STRUCT: Table = {
    "field": lambda p: p.field("a"),
    "flattened": lambda p: p.flatten()[1],
    "narrower": lambda p: p.cast(_module("pyarrow").struct([("a", "float32"), ("b", "float32")])),
}
WIDE: Table = {
    "last ones selected": lambda t: t.select(["c11", "c10"]),
    "slice": lambda t: t.slice(5),
    "to pandas": lambda t: t.to_pandas(),
    "cast": lambda t: t.cast(_module("pyarrow").schema([(name, "float32") for name in t.column_names])),
    "by its C stream": lambda t: _module("pyarrow").table(Stream(t)),
}
POLARS: Table = {
    "by its C stream": lambda q: _module("polars").Series(Stream(q)),
    "in place": lambda q: operator.iadd(q, 1),
}
POLARS_TEXTS: Table = {
    "to Arrow": lambda q: q.to_arrow(),
    "to Arrow's views": lambda q: q.to_arrow(compat_level=_module("polars").CompatLevel.newest()),
    "slice": lambda q: q[5:3000],
    "upper": lambda q: q.str.to_uppercase(),
    "as bytes": lambda q: q.cast(_module("polars").Binary),
}
CATEGORIES: Table = {
    "slice": lambda q: q[5:],
    "clone": lambda q: q.clone(),
    "sorted": lambda q: q.sort(),
    "renamed": lambda q: q.rename("q"),
    "reversed": lambda q: q.reverse(),
    "in a frame": lambda q: q.to_frame(),
}
WIDE_FRAME: Table = {
    "last ones selected": lambda f: f.select("c11", "c10"),
    "a column": lambda f: f["c11"],
    "clone": lambda f: f.clone(),
    "filtered": lambda f: f.filter(_module("polars").col("c3") > 1.3),
    "to Arrow": lambda f: f.to_arrow(),
    "by a plan": lambda f: f.lazy().select("c11").collect(),
}
TORCH: Table = {
    "by DLPack of the user's": lambda t: _module("torch").from_dlpack(
        Lent(t, "__dlpack__", "__dlpack_device__")
    ),
    "times 2, in place": lambda t: operator.imul(t, 2),
    "in place by parts": lambda t: operator.imul(t[:2000], 2),
    "nothing of it": lambda t: t[:0].numpy(),
}
ELEMENT: Table = {
    "xpath": lambda e: e.xpath("string(a)"),
    "canonical": lambda e: _module("lxml.etree").tostring(e, method="c14n"),
}
SPARSE: Table = {
    "copy": lambda m: m.copy(),
    "turned": lambda m: m.T,
    "as columns": lambda m: m.tocsc(),
    "itself": lambda m: m.tocsr(),
}

TABLES: tuple[tuple[str, Any, Table, Any], ...] = (
    ("numpy", numbers, NUMPY, None),
    ("numpy", nothing, EMPTY, None),
    ("numpy", masked, MASKED, lambda m: flip(np.asarray(m.data))),
    ("numpy", backwards, BACKWARDS, lambda a: flip(a.base)),
    ("numpy", objects, OBJECTS, lambda a: a.fill("other")),
    ("bytes", octets, BYTES, None),
    ("array", words, ARRAY, None),
    ("ctypes", c_struct, CTYPES, change_object),
    ("ctypes", two_axes, TWO_AXES, None),
    ("cffi", octets, CFFI, None),
    ("pandas", nullable, NULLABLE, change_nullable),
    ("pandas", pandas_texts, PANDAS_TEXTS, lambda s: change_arrow(s.array._pa_array)),
    ("pandas", kinds, KINDS, change_kinds),
    ("pandas", hours, HOURS, lambda s: _change(*next(memory(s)))),
    ("pyarrow", arrow_texts, ARROW_TEXTS, change_arrow),
    ("pyarrow", dictionary, DICTIONARY, change_arrow),
    ("pyarrow", nested, NESTED, change_arrow),
    ("pyarrow", struct, STRUCT, change_fields),
    ("pyarrow", wide, WIDE, None),
    ("polars", polar, POLARS, None),
    ("polars", polars_texts, POLARS_TEXTS, change_polars),
    ("polars", categories, CATEGORIES, change_polars),
    ("polars", wide_frame, WIDE_FRAME, None),
    ("torch", tensor, TORCH, None),
    ("others", element, ELEMENT, lambda e: setattr(e[0], "text", "y" * 9000)),
    ("others", sparse, SPARSE, lambda m: m.data.__iadd__(1)),
)
FURTHER = tuple(
    Case(library, f"{make.__name__}, further: {name}", make, operation, True, change)
    for library, make, operations, change in TABLES
    for name, operation in operations.items()
)
EVERY = (*BEFORE, *FURTHER)


if __name__ == "__main__":
    judge(EVERY)
