"""Read R's vectors from memory: elements, names, attributes; an ALTREP stays as it is."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from array import array
from typing import Final

from inspector import _native
from inspector.objects.layouts.r_objects import (
    DATA,
    ITEM_BYTES,
    LIST,
    PAIRLIST,
    Header,
    header,
    symbol_name,
    text_of_na,
)

LOGICAL, INTEGER, REAL, COMPLEX, STRING, RAW = 10, 13, 14, 15, 16, 24
KINDS: Final = {LOGICAL: "logical", INTEGER: "integer", REAL: "numeric", COMPLEX: "complex",
                STRING: "character", RAW: "raw", LIST: "list"}  # fmt: skip
CODES: Final = {
    LOGICAL: "i",
    INTEGER: "i",
    REAL: "d",
    COMPLEX: "d",
    STRING: "Q",
    LIST: "Q",
    20: "Q",
    RAW: "B",
}
NA_INTEGER: Final = -(1 << 31)
ATTRIBUTES_MAX, TEXT_MAX = 64, 1 << 16
LATIN1: Final = 1 << 2
"""In the general purpose bits of a CHARSXP (Defn.h)."""


def elements(found: Header) -> array[int] | array[float] | None:
    """The elements of a vector, pointers of strings and lists; None for no vector, or a lazy one."""
    plain = plain_of(found)
    if plain is None:
        return None
    read = _native.read(plain.address + DATA, plain.first * ITEM_BYTES[plain.type]) if plain.first else b""
    return None if read is None else array(CODES[plain.type], read)


def plain_of(found: Header) -> Header | None:
    """The plain vector that holds the elements: of an ALTREP the expanded or the wrapped one, if any."""
    for _ in range(4):
        if found.type not in CODES:
            return None
        if not found.altrep:
            return found
        inner = [one for one in (header(found.second), header(found.first)) if one is not None]
        held = [one for one in inner if one.type == found.type]
        if not held:
            return None
        found = held[0]
    return None


def attributes(found: Header) -> dict[str, Header]:
    """Attributes by name."""
    held: dict[str, Header] = {}
    pair = header(found.attributes)
    for _ in range(ATTRIBUTES_MAX):
        if pair is None or pair.type != PAIRLIST:
            break
        if (value := header(pair.first)) is not None:
            held[symbol_name(pair.third)] = value
        pair = header(pair.second)
    return held


def texts(found: Header | None, most: int) -> list[str | None]:
    """The first strings of a character vector; None for NA."""
    pointers = elements(found) if found is not None and found.type == STRING else None
    return [text(int(one)) for one in (pointers or ())[:most]]


def text(address: int) -> str | None:
    """A CHARSXP's text; None for NA."""
    if address + DATA == text_of_na():
        return None
    one = header(address)
    if one is None or one.type != 9:
        return "?"
    word = int.from_bytes(_native.read(address, 8) or b"", "little")
    encoding = "latin1" if word >> 8 & LATIN1 else "utf-8"
    return (_native.read(address + DATA, min(one.first, TEXT_MAX)) or b"").decode(encoding, "replace")


def item(found: Header, at: int) -> Header | None:
    """An element of a list."""
    pointers = elements(found)
    return header(int(pointers[at])) if pointers is not None and at < len(pointers) else None
