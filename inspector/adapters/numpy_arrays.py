"""NumPy arrays, read by struct fields: taking a buffer would leave 72 bytes in the array for life."""

# SPDX-License-Identifier: MIT
import sys
from typing import Any

from inspector import _native
from inspector.adapters.base import Adapter, Elements, extent, type_name
from inspector.adapters.told import Told
from inspector.facts.layout import Member
from inspector.facts.memory import Range
from inspector.facts.unknown import Address, Unknown

FLAGS = {
    "C_CONTIGUOUS": 0x1,
    "F_CONTIGUOUS": 0x2,
    "OWNDATA": 0x4,
    "ALIGNED": 0x100,
    "WRITEABLE": 0x400,
    "WRITEBACKIFCOPY": 0x2000,
}
"""NPY_ARRAY_* of numpy/ndarraytypes.h, in the order of PyArray_CHKFLAGS's manual section."""

TYPE_NUMBERS = [
    "BOOL",
    "BYTE",
    "UBYTE",
    "SHORT",
    "USHORT",
    "INT",
    "UINT",
    "LONG",
    "ULONG",
    "LONGLONG",
    "ULONGLONG",
    "FLOAT",
    "DOUBLE",
    "LONGDOUBLE",
    "CFLOAT",
    "CDOUBLE",
    "CLONGDOUBLE",
    "OBJECT",
    "STRING",
    "UNICODE",
    "VOID",
    "DATETIME",
    "TIMEDELTA",
    "HALF",
]
"""enum NPY_TYPES of numpy/ndarraytypes.h."""

_LAST_SIMPLE = TYPE_NUMBERS.index("CLONGDOUBLE")
_FORMATS: dict[str, str] = {}
"""Typestr of a number -> NumPy's name, cached: `dtype.name` is computed in Python each time."""


class NumPyArrays(Adapter):
    """ndarray and its subclasses (same C struct), and the holders that NumPy puts between views."""

    library = "numpy"
    versions = ("1.26", "3")
    inherited = ("ndarray",)

    def types(self) -> tuple[type, ...]:
        """DummyArray: the base that as_strided and sliding_window_view leave."""
        dummy = _dummy_array()
        return () if dummy is None else (dummy,)

    def self_test(self) -> None:
        """The struct of a reversed, sliced view agrees with NumPy's public attributes."""
        numpy = _numpy()
        base = numpy.arange(24, dtype="i4").reshape(4, 6)
        view = base[::-1, 1::2]
        address, shape, strides, flags, owner, descr = _native.ndarray_fields(view, numpy.ndarray)
        told = (view.__array_interface__["data"][0], view.shape, view.strides, view.flags.num)
        if (address, shape, strides, flags) != told or descr is not view.dtype or owner is not view.base:
            raise ValueError("PyArrayObject_fields does not lie as in numpy/ndarraytypes.h")

    def elements(self, x: Any) -> tuple[Elements, ...]:
        """Its one block."""
        numpy = _numpy()
        if type(x) is _dummy_array():
            return ()
        address, shape, strides, flags, _, descr = _native.ndarray_fields(x, numpy.ndarray)
        return (
            Elements(
                "struct fields",
                address,
                shape,
                strides,
                descr.itemsize,
                format_of(descr),
                descr.str,
                readonly=not flags & FLAGS["WRITEABLE"],
                exporter=type_name(type(x)),
                numeric=not descr.hasobject,
                flags=tuple(name for name, bit in FLAGS.items() if flags & bit),
                members=members_of(descr),
                aligned=bool(flags & FLAGS["ALIGNED"]),
            ),
        )

    def spans(self, x: Any) -> tuple[Range, ...]:
        """The range of its block, without making an Elements."""
        if type(x) is _dummy_array():
            return ()
        address, shape, strides, _, _, descr = _native.ndarray_fields(x, _numpy().ndarray)
        start, stop = extent(address, shape, strides, descr.itemsize)
        return (Range(Address(start), Address(stop)),) if stop > start else ()

    def holds(self, x: Any) -> tuple[tuple[str, Any], ...]:
        """PyArray_BASE."""
        if type(x) is _dummy_array():
            base = object.__getattribute__(x, "base")
        else:
            base = _native.ndarray_fields(x, _numpy().ndarray)[4]
        return () if base is None else (("base", base),)

    def owns(self, x: Any) -> bool | Unknown:
        """NPY_ARRAY_OWNDATA."""
        if type(x) is _dummy_array():
            return False
        return bool(_native.ndarray_fields(x, _numpy().ndarray)[3] & FLAGS["OWNDATA"])

    def names(self, x: Any) -> tuple[tuple[str, str], ...]:
        """Each fact with its C name (numpy.org/doc/stable/reference/c-api/array.html)."""
        if type(x) is _dummy_array():
            return ()
        address, shape, strides, flags, base, descr = _native.ndarray_fields(x, _numpy().ndarray)
        (block,) = self.elements(x)
        number = TYPE_NUMBERS[descr.num] if descr.num < len(TYPE_NUMBERS) else "user"
        return (
            ("PyArray_DATA", hex(address)),
            ("PyArray_NDIM", str(len(shape))),
            ("PyArray_DIMS", str(shape)),
            ("PyArray_STRIDES", f"{strides} bytes"),
            ("PyArray_DESCR", f"{format_of(descr)} at {id(descr):#x} (borrowed)"),
            (
                "PyArray_TYPE",
                f"{descr.num} (NPY_{number})" if number != "user" else f"{descr.num} (a user's type)",
            ),
            ("PyArray_ITEMSIZE", str(descr.itemsize)),
            ("PyArray_SIZE", str(block.size)),
            ("PyArray_BASE", "NULL" if base is None else f"{type_name(type(base))} at {id(base):#x}"),
            *((f"NPY_ARRAY_{name}", "yes" if flags & bit else "no") for name, bit in FLAGS.items()),
            ("allocator", allocator(x)),
        )

    def layers(self, x: Any) -> Told:
        """From numpy_layers: masks, arenas, pending write-backs, unowned bytes."""
        from inspector.adapters import numpy_layers

        if type(x) is _dummy_array():
            return Told()
        return numpy_layers.layers(x, self, _native.ndarray_fields(x, _numpy().ndarray))

    def text(self, block: Elements, raw: bytes) -> str | Unknown:
        """One number, as NumPy prints it."""
        if block.typestr[1:2] not in tuple("biufcmM"):
            return Unknown(f"elements of {block.format} are not numbers")
        return str(_numpy().frombuffer(raw, block.typestr)[0])


def format_of(descr: Any) -> str:
    """A dtype as text: "float64", ">i4", "struct of 2 fields"."""
    known = _FORMATS.get(descr.str) if descr.num <= _LAST_SIMPLE else None
    if known is not None:
        return known
    if descr.names is not None:
        return f"struct of {len(descr.names)} fields"
    found = str(descr.name) if descr.isnative else str(descr.str)
    if descr.num <= _LAST_SIMPLE:
        _FORMATS[descr.str] = found
    return found


def members_of(descr: Any) -> tuple[Member, ...]:
    """Fields of a structured dtype, in the order of its names."""
    if descr.names is None:
        return ()
    rows = ((name, *descr.fields[name][:2]) for name in descr.names)
    return tuple(Member(name, format_of(field), offset, field.itemsize) for name, field, offset in rows)


def allocator(x: Any) -> str:
    """Name of the memory handler that allocated the bytes (NEP 49)."""
    core = sys.modules.get("numpy._core.multiarray") or sys.modules["numpy.core.multiarray"]
    name = core.get_handler_name(x)
    return "not NumPy's: the base owns the bytes" if name is None else str(name)


def _numpy() -> Any:
    return sys.modules["numpy"]


def _dummy_array() -> type | None:
    for name in ("numpy.lib._stride_tricks_impl", "numpy.lib.stride_tricks"):
        if found := getattr(sys.modules.get(name), "DummyArray", None):
            return found  # type: ignore[no-any-return]
    return None


ADAPTER = NumPyArrays()
