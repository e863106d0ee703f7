"""Finds the blocks of bytes that a library exports by Arrow's C stream, and releases the export at once.

Source: arrow/c/abi.h (the C data and the C stream interface). The export refers to the library's own buffers;
the interface copies nothing. The GIL is held, and only the library's own code runs.
"""

# SPDX-License-Identifier: MIT
import ctypes
from collections.abc import Iterator
from typing import Any, Final

from inspector.adapters.base import Elements

MOST_BATCHES = 64
MOST_BUFFERS = 64
_STREAM: Final = b"arrow_array_stream"
_WIDTHS: Final = {
    "c": "<i1", "C": "<u1", "s": "<i2", "S": "<u2", "i": "<i4", "I": "<u4", "l": "<i8", "L": "<u8",
    "e": "<f2", "f": "<f4", "g": "<f8", "tdD": "<i4", "tdm": "<i8", "tts": "<i4", "ttm": "<i4", "ttu": "<i8",
    "ttn": "<i8",
}  # fmt: skip
_STARTS: Final = {"ts": "<i8", "tD": "<i8", "d:": "|V16", "_pl": "|V16"}
_OFFSETS: Final = {"u": "<i4", "z": "<i4", "U": "<i8", "Z": "<i8", "+l": "<i4", "+L": "<i8"}
_VIEWS: Final = ("vu", "vz")
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("schema", "next", "error", "release", "own")]


_Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))), ("dictionary", ctypes.POINTER(_Schema)),
    ("release", ctypes.c_void_p), ("own", ctypes.c_void_p),
]  # fmt: skip
_Array._fields_ = [
    *((name, ctypes.c_int64) for name in ("length", "nulls", "offset", "n_buffers", "n_children")),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)), ("release", ctypes.c_void_p), ("own", ctypes.c_void_p),
]  # fmt: skip


def blocks(capsule: Any, exporter: str) -> tuple[Elements, ...]:
    """The blocks of values of each batch of a stream, which is consumed; () if there are none.

    Booleans as bits, in whole bytes; texts as views or offsets, then characters; for a nested type the blocks
    of its children; for a dictionary the codes. Raises ValueError if the capsule is not a stream's.
    """
    stream, schema = _Stream.from_address(_pointer(capsule, _STREAM)), _Schema()
    if _called(stream.schema, stream, schema):
        return ()
    try:
        return tuple(_of_stream(stream, schema, exporter))
    finally:
        _release(schema)


def dictionary(schema_capsule: Any, array_capsule: Any, exporter: str) -> tuple[Elements, ...]:
    """The blocks of the dictionary of an exported array; () if it has none.

    The capsules' destructors release the export. Raises ValueError if they are not an array's.
    """
    schema = _Schema.from_address(_pointer(schema_capsule, b"arrow_schema"))
    array = _Array.from_address(_pointer(array_capsule, b"arrow_array"))
    if not (schema.dictionary and array.dictionary):
        return ()
    rows = _of_array(schema.dictionary.contents, array.dictionary.contents)
    return tuple(_elements(row, exporter) for row in rows if row[0])


def _called(function: int, *given: ctypes.Structure) -> int:
    kind = ctypes.PYFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * len(given))
    return int(kind(function)(*map(ctypes.addressof, given)))


def _release(made: Any) -> None:
    if made.release:
        ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(made.release)(ctypes.addressof(made))


def _of_stream(stream: _Stream, schema: Any, exporter: str) -> Iterator[Elements]:
    for _ in range(MOST_BATCHES):
        batch: Any = _Array()
        if _called(stream.next, stream, batch) or not batch.release:
            return
        try:
            rows = [row for row in _of_array(schema, batch) if row[0]]
        finally:
            _release(batch)
        yield from (_elements(row, exporter) for row in rows)


def _elements(row: tuple[int, int, str], exporter: str) -> Elements:
    address, length, typestr = row
    size = int(typestr[2:])
    return Elements("Arrow C data", address, (length,), (size,), size, typestr[1:], typestr, True, exporter)


def _of_array(schema: Any, array: Any) -> Iterator[tuple[int, int, str]]:
    """(address, elements, type as NumPy spells it) of each block of values."""
    told, first, length = schema.format.decode(), array.offset, array.length
    at = [array.buffers[n] or 0 for n in range(min(array.n_buffers, MOST_BUFFERS))]
    number = _WIDTHS.get(told) or next((_STARTS[s] for s in _STARTS if told.startswith(s)), "")
    if told == "b":
        yield at[1] + first // 8, (first % 8 + length + 7) // 8, "|u1"
    elif number:
        yield at[1] + first * int(number[2:]), length, number
    elif told in _VIEWS and array.n_buffers <= MOST_BUFFERS:
        yield at[1] + 16 * first, length, "|V16"
        sizes: Any = (ctypes.c_int64 * (len(at) - 3)).from_address(at[-1]) if len(at) > 3 else ()
        yield from ((address, size, "|u1") for address, size in zip(at[2:-1], sizes, strict=True))
    elif told in _OFFSETS:
        yield from _offset(at, first, length, _OFFSETS[told])
    if told.startswith("+"):
        for n in range(array.n_children):
            yield from _of_array(schema.children[n].contents, array.children[n].contents)


def _offset(at: list[int], first: int, length: int, number: str) -> Iterator[tuple[int, int, str]]:
    """The block of offsets of texts or lists, and the block of their characters, first to last."""
    kind: Any = ctypes.c_int32 if number == "<i4" else ctypes.c_int64
    starts = at[1] + first * ctypes.sizeof(kind)
    yield starts, length + 1, number
    if len(at) > 2 and length:
        begin, end = (kind.from_address(starts + n * ctypes.sizeof(kind)).value for n in (0, length))
        yield at[2] + begin, end - begin, "|u1"
