"""Facts of supposed objects, as the tests of the views draw them."""

# SPDX-License-Identifier: MIT
from typing import Any

from inspector.facts.buffer import Buffer, Holder
from inspector.facts.conversion import Call, Conversion, Copy, Crossing, Seen, Site, Span, Trace, Value
from inspector.facts.finding import Finding
from inspector.facts.layout import Layout
from inspector.facts.materialization import Evidence, Layer, Level, Materialization, Residency
from inspector.facts.memory import Mapping, Range
from inspector.facts.native import Field
from inspector.facts.object import Object
from inspector.facts.unknown import Address, Unknown


def buffer_fact() -> Buffer:
    place, whole = Range(Address(0x55D0A0), Address(0x55D100)), Range(Address(0x55D000), Address(0x620500))
    heap = Mapping("heap", "rw-p", Unknown("not in a file"), 0, Unknown("not asked"), whole)
    return Buffer(
        logical_bytes=96,
        range=place,
        mapping=heap,
        owns=False,
        holders=(Holder("ndarray", "ndarray", Address(0x7F0010), "base", True, 800_000, whole, 3),),
        readonly=False,
        exports=Unknown("ndarray keeps no count of its exports"),
        spoken=(),
        facts=(("PyArray_NDIM", "2"), ("PyArray_SIZE", "12")),
    )


def conversion_fact() -> Trace:
    """A sample fact: a list converted to an array, a transpose made contiguous, a view."""
    unknown = Unknown("not in a notebook")

    def site(line: int, said: str) -> Site:
        return Site("cell", line, "<module>", 7, said)

    def array(address: int, count: int, order: str, kind: str = "f") -> Value:
        span = Span(address, count * 8, count * 8, 8, kind, order, False)  # type: ignore[arg-type]
        return Value("numpy.ndarray", "", address, (span,), 0, "")  # type: ignore[arg-type]

    rows = Value("list", "", 1, (), 1_000_000, "float")  # type: ignore[arg-type]
    read = Conversion("PyNumber_Float", "to native", "new", "", ("0.5",), 10**6, 0, "numpy", 11_000_000, 1)
    made = Conversion("PyArray_NewFromDescr", "to Python", "new", "", (), 1, 0, "numpy", 1_000, 1)
    first, second = site(3, "np.asarray(rows)"), site(4, "np.ascontiguousarray(m.T)")
    flat, fortran, fresh = array(0x1000, 10**6, "CF"), array(0x1000, 10**6, "F"), array(0x9000000, 10**6, "C")
    calls = (
        Call("numpy.asarray", "method", "module", first, 1, (rows,), 0, flat, 0, 1, 26_000_000, 26_000_000,
             (read, made), (), 0),
        Call("numpy.ascontiguousarray", "method", "module", second, 1, (fortran,), 0, fresh, 0, 1, 500_000,
             500_000, (), (), 0),
    )  # fmt: skip
    copies = (
        Copy("copied", 8_000_000, 8_000_000, "likely", "a list has no buffer",
             "keep it an array from the start", "numpy.asarray", 1, "_multiarray_umath",
             "list of 1,000,000 float", "ndarray float64", first),
        Copy("copied", 8_000_000, 8_000_000, "by sample", "layout changes: Fortran order → C order",
             "keep the layout", "numpy.ascontiguousarray", 1, "_multiarray_umath", "ndarray float64",
             "ndarray float64", second),
        Copy("shared", 0, 8_000_000, "certain", "the result's bytes are an argument's", "",
             "torch.from_numpy", 1, unknown, "ndarray float64", "Tensor", site(5, "torch.from_numpy(m)")),
    )  # fmt: skip
    crossings = (
        Crossing(first, 1, 1_000_001, 26_000_000, 11_001_000),
        Crossing(second, 1, 0, 500_000, Unknown("no conversion was recorded")),
    )
    seen = (Seen("numpy", 2_064, {"wrapper_descriptor": 120}, 1_990, 2_300),)
    return Trace(calls, 0, copies, (), crossings, seen, 1_000_014, 0, 94_000_000, "record")


def layout_fact() -> Layout:
    return Layout(
        shape=(3, 4),
        strides_bytes=(8, 24),
        itemsize_bytes=8,
        format="float64",
        c_contiguous=False,
        f_contiguous=True,
        aligned=True,
        words=("Fortran order",),
        members=(),
        preview=("0.0", "1.0", "2.0"),
    )


def materialization_fact() -> Materialization:
    """A sample fact: a frame's column in a mapped file, shared copy-on-write."""
    span = Range(Address(0x7F0000001000), Address(0x7F00007A2200))
    pages = Residency("reserved", 0, 0, 49_152, 0, 0, 7_950_848, 0, 4096, "PAGEMAP_SCAN", "ff" + "." * 46)
    refs = (Evidence("attribute", "block.refs", "2 alive"),)
    place = (Evidence("address", "0x7f0000001000", "r--p prices.bin"),)
    ask = (Evidence("system call", "PAGEMAP_SCAN", "12 of 1,954 in memory"),)

    def layer(level: Level, what: str, evidence: tuple[Evidence, ...], **more: Any) -> Layer:
        return Layer(level, what, "computed", "file-mapped", "cow", evidence, **more)

    acts, idle = ("a write", ".to_numpy(copy=True)"), (".head()", "len", "repr")
    layers = (
        Layer("wrapper", "Series"),
        layer("container", "block float64, 2 holders", refs, would=acts, would_not=idle, depth=1),
        layer("buffer", "memmap prices.bin +4096", place, spans=(span,), depth=2, residency=pages),
        layer("pages", "12 of 1,954 in memory", ask, depth=2, residency=pages),
    )
    return Materialization(
        "copy-on-write pending", layers, 0, 8_000_000, 8_000_000, 8_000_000, 0, 0, 49_152, 0, 0, 7_950_848,
        49_152, 0.006, "", Unknown("nobody recorded it"),
        (Finding("shared-copy-on-write", "the first write copies 8.0 MB", "several holders share the bytes",
                 "drop the other holder first", True),),
    )  # fmt: skip


def object_fact() -> Object:
    return Object(
        address=Address(0x7F00_0000_1000),
        type_name="numpy.ndarray",
        type_address=Address(0x7F00_1000_2000),
        type_mro=("numpy.ndarray", "object"),
        heap_type=False,
        defined_in="/usr/lib/python3/numpy/_core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so",
        size_bytes=96,
        length=Unknown("no built-in container, or its __len__ is not run"),
        gc_tracked=Unknown("objects of this type have no gc header"),
        immortal=False,
        interned=Unknown("only a str can be interned"),
        header=(Field("ob_refcnt", 0, 8, "2"), Field("ob_type", 8, 8, "0x7f0010002000 numpy.ndarray")),
        preview=Unknown("its repr is code of its type: not run"),
    )
