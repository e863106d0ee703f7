"""R objects of another process as bounded text, read from their headers (Rinternals.h; R 3.5 and later)."""

# SPDX-License-Identifier: MIT
import struct
from typing import Final

from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable
from inspector.facts.unknown import Unknown

_TYPES: Final = {
    **{0: "NULL", 1: "symbol", 2: "pairlist", 3: "closure", 4: "environment", 5: "promise", 6: "language"},
    **{7: "special", 8: "builtin", 9: "char", 10: "logical", 13: "integer", 14: "numeric", 15: "complex"},
    **{16: "character", 19: "list", 20: "expression", 22: "externalptr", 23: "weakref", 24: "raw", 25: "S4"},
}
_VECTORS: Final = {10: "i", 13: "i", 14: "d", 16: "Q", 19: "", 24: "B"}
"""Type -> how an item is read; "" for items that are R objects."""
_NA: Final = -(1 << 31)
_NA_REAL: Final = struct.pack("<I", 1954)
"""The lower half of R's NA: a NaN of its own."""
_ASCII: Final = 1 << 14
"""Of a string's header: ASCII_MASK, the 6th of the bits gp, which begin with the 8th."""
_TEXT_MAX: Final = 40
_SHOWN: Final = 4
_LENGTH: Final = 32
_ITEMS: Final = 48
_LENGTH_MAX: Final = 1 << 48


def describe(memory: RemoteMemory, address: int) -> str | Unknown:
    """Type, length and first items of a possible SEXP; an ALTREP is not expanded."""
    try:
        head = memory.word(address)
        kind = head & 31
        if address % 8 or kind not in _TYPES:
            return Unknown(f"no R object at {address:#x}")
        name = _TYPES[kind]
        if kind not in _VECTORS:
            return name
        if head >> 7 & 1:
            return f"{name}, ALTREP"
        length = memory.word(address + _LENGTH)
        if length > _LENGTH_MAX:
            return Unknown(f"no R object at {address:#x}")
        return f"{name}({length:,}){_items(memory, address, kind, length)}"
    except Unreadable:
        return Unknown(f"unreadable at {address:#x}")


def _items(memory: RemoteMemory, address: int, kind: int, length: int) -> str:
    form, count = _VECTORS[kind], min(length, _SHOWN)
    if not form or not count:
        return ""
    found = struct.iter_unpack(f"<{form}", memory.read(address + _ITEMS, count * struct.calcsize(f"<{form}")))
    said = " ".join(_item(memory, kind, item) for (item,) in found)
    return f" {said}{' …' if length > count else ''}"


def _item(memory: RemoteMemory, kind: int, item: float) -> str:
    """As R prints it."""
    if kind == 16:
        return _text(memory, int(item))
    if kind in (10, 13) and item == _NA:
        return "NA"
    if kind == 14:
        missing = item != item and struct.pack("<d", item)[:4] == _NA_REAL
        return "NA" if missing else {"nan": "NaN", "inf": "Inf", "-inf": "-Inf"}.get(f"{item:g}", f"{item:g}")
    return ("FALSE", "TRUE")[item != 0] if kind == 10 else str(item)


def _text(memory: RemoteMemory, address: int) -> str:
    """A string in quotes; NA is the only one of the letters NA that R has not marked as ASCII."""
    size = memory.word(address + _LENGTH)
    text = memory.read(address + _ITEMS, min(size, _TEXT_MAX)).decode(errors="replace")
    if text == "NA" and not memory.word(address) & _ASCII:
        return "NA"
    return f'"{text}{"…" if size > _TEXT_MAX else ""}"'
