"""R objects of another process as bounded text, read from their headers (Rinternals.h; R 3.5 and later)."""

# SPDX-License-Identifier: MIT
import struct
from typing import Final

from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable
from inspector.facts.amounts import counted
from inspector.facts.unknown import Unknown

_TYPES: Final = {
    **{0: "NULL", 1: "symbol", 2: "pairlist", 3: "closure", 4: "environment", 5: "promise", 6: "language"},
    **{7: "special", 8: "builtin", 9: "char", 10: "logical", 13: "integer", 14: "double", 15: "complex"},
    **{16: "character", 19: "list", 20: "expression", 22: "externalptr", 23: "weakref", 24: "raw", 25: "S4"},
}
_VECTORS: Final = {10: "i", 13: "i", 14: "d", 16: "", 19: "", 24: "B"}
"""Type -> how an item is read; "" for items that are R objects."""
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
        return f"{name} ({counted(length, 'item')}){_items(memory, address, kind, length)}"
    except Unreadable:
        return Unknown(f"unreadable at {address:#x}")


def _items(memory: RemoteMemory, address: int, kind: int, length: int) -> str:
    form, count = _VECTORS[kind], min(length, _SHOWN)
    if not form or not count:
        return ""
    found = struct.unpack(f"<{count}{form}", memory.read(address + _ITEMS, count * struct.calcsize(form)))
    said = ", ".join(f"{item:g}" if form == "d" else str(item) for item in found)
    return f" {said}{', …' if length > count else ''}"
