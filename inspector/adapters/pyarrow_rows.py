"""pyarrow: the buffers of arrays and tables, and which bytes of each an array shows."""

# SPDX-License-Identifier: MIT
import struct
from collections.abc import Iterator
from itertools import islice
from typing import Any

from inspector import _native
from inspector.adapters.base import Elements, type_module, type_name
from inspector.adapters.holders import MOST_HELD
from inspector.binaries.mappings import plain_mapping
from inspector.facts.memory import Range
from inspector.facts.unknown import Unknown
from inspector.objects.classes import type_bases

_NUMBERS = {
    "halffloat": ("float16", "e"),
    "float": ("float32", "f"),
    "double": ("float64", "d"),
    **{f"{sign}int{bits}": (f"{sign}int{bits}", code) for sign, bits, code in (
        ("", 8, "b"), ("", 16, "h"), ("", 32, "i"), ("", 64, "q"),
        ("u", 8, "B"), ("u", 16, "H"), ("u", 32, "I"), ("u", 64, "Q"),
    )},
}  # fmt: skip
"""Arrow type -> NumPy's name and the struct module's letter."""
_TIMES = {"timestamp": "q", "time64": "q", "duration": "q", "date64": "q", "time32": "i", "date32": "i"}
"""Arrow type, before its unit -> the letter of the numbers that are kept."""
_OFFSETS = {"string": 4, "binary": 4, "large_string": 8, "large_binary": 8}
"""Arrow type of texts -> bytes of one of its offsets."""
_VIEWS = ("string_view", "binary_view")
TABLES = ("Table", "RecordBatch")
MOST_FIELDS = 4
"""Most fields of a nested type that its name lists."""


def width_of(x: Any) -> int:
    """Columns of a table, chunks of a chunked array; else 1."""
    kind = type_name(type(x))
    return int(x.num_columns if kind in TABLES else x.num_chunks if kind == "ChunkedArray" else 1)


def first_columns(x: Any, most: int) -> Any:
    """A table of the first columns: reading a batch's columns would cache a Schema in the batch."""
    return x.select(list(range(min(most, x.num_columns))))


def _all(x: Any) -> Iterator[tuple[str, Any]]:
    kind = type_name(type(x))
    if kind in TABLES:
        few = first_columns(x, MOST_HELD)
        for position in range(few.num_columns):
            column = few.column(position)
            yield from ((f"[{position}]{place}", array) for place, array in _all(column))
    elif kind == "ChunkedArray":
        many = x.num_chunks > 1
        yield from ((f".chunk({n})" if many else "", x.chunk(n)) for n in range(x.num_chunks))
    elif kind == "RunEndEncodedArray":
        yield from ((".run_ends", x.run_ends), (".values", x.values))
    elif "Array" in {type_name(base) for base in type_bases(type(x))}:
        yield "", x


def arrays_of(x: Any) -> Iterator[tuple[str, Any]]:
    """(place, array) of the first arrays under it."""
    return islice(_all(x), MOST_HELD)


def arrow_type(typed: Any) -> str:
    """Arrow's name for the type of an array or field; for a user's extension type only its class."""
    told = typed.type
    if type_module(type(told)) != "pyarrow.lib":
        return type_name(type(told))
    return str(told) if told.num_fields <= MOST_FIELDS else f"{type_name(type(told))} of {told.num_fields:,}"


def buffers_of(x: Any) -> Iterator[tuple[str, Any, Elements]]:
    """(place, buffer, the block that `x` shows of it) of all buffers under it, bounded."""
    if type_name(type(x)).endswith("Buffer"):
        yield "bytes", x, _elements(x, x, 0, x.size, 1, "uint8", "B")
        return
    for place, array in arrays_of(x):
        told = arrow_type(array)
        name, code = _NUMBERS.get(told) or (told, _TIMES.get(told.partition("[")[0], ""))
        buffers = array.buffers()
        for position, buffer in enumerate(buffers):
            if buffer is None:
                continue
            where = f"{place} {_role(array, position)}".strip()
            if position == 1 and code:
                width = struct.calcsize(code)
                yield (
                    where,
                    buffer,
                    _elements(buffer, array, array.offset * width, len(array), width, name, code),
                )
            else:
                bits = "bits" if position == 0 or told == "bool" else ""
                octets = bits or ("offsets" if where.endswith("offsets") else "uint8")
                skip, length = shown_of(array, buffers, position, told)
                length = buffer.size if length < 0 else length
                yield where, buffer, _elements(buffer, array, skip, length, 1, octets, "B")


def shown_of(array: Any, buffers: list[Any], position: int, told: str) -> tuple[int, int]:
    """(first byte, bytes) that an array shows of a buffer of bits, offsets, codes, texts; (0, -1): all.

    All of it for nested types, and for characters whose offsets lie in a mapped file: reading those would
    page them in.
    """
    first, length = array.offset, len(array)
    if array.type.num_fields:
        return 0, -1
    if position == 0 or told == "bool":
        return first // 8, (first % 8 + length + 7) // 8
    width = _OFFSETS.get(told, 0)
    if position == 1:
        fixed = 16 if told in _VIEWS else _fixed_width(array.type)
        own = (first * fixed, length * fixed) if fixed else (0, -1)
        return (first * width, (length + 1) * width) if width else own
    ends = _ends(array, buffers, width) if position == 2 and width else None
    return (ends[0], ends[1] - ends[0]) if ends is not None else (0, -1)


def _fixed_width(kind: Any) -> int:
    """Bytes of a value of decimals, of bytes of one length, of a dictionary's codes; 0 for other types."""
    try:
        return kind.bit_width // 8 if type_module(type(kind)) == "pyarrow.lib" else 0
    except ValueError:
        return 0


def _ends(array: Any, buffers: list[Any], width: int) -> tuple[int, int] | None:
    """Where the characters of an array's first text begin and those of its last end; None if not read."""
    offsets = buffers[1]
    if offsets is None or not offsets.is_cpu or not len(array):
        return (0, 0) if not len(array) else None
    at = offsets.address + array.offset * width
    place = plain_mapping(Range(at, at + len(array) * width + width))
    if isinstance(place, Unknown) or not isinstance(place.file, Unknown):
        return None
    read = [_native.read(one, width) for one in (at, at + len(array) * width)]
    begin, end = (int.from_bytes(raw or b"", "little", signed=True) for raw in read)
    return (begin, end) if None not in read and 0 <= begin <= end <= buffers[2].size else None


def _role(array: Any, position: int) -> str:
    """The role of one of an array's buffers() in Arrow's columnar format; "" for the values."""
    if position == 0:
        return "validity"
    kind = arrow_type(array)
    if array.type.num_fields or position > 2:
        return f"buffers()[{position}]"
    lists = any(word in kind for word in ("string", "binary", "utf8")) and "view" not in kind
    return ("offsets", "data")[position - 1] if lists else "" if position == 1 else f"buffers()[{position}]"


def _elements(buffer: Any, x: Any, skip: int, length: int, width: int, name: str, code: str) -> Elements:
    return Elements(
        "Arrow buffer", buffer.address + skip, (length,), (width,), width, name, code,
        readonly=not buffer.is_mutable, exporter=type_name(type(x)),
    )  # fmt: skip
