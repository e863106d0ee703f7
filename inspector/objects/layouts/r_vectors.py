"""Read R's vectors from memory: elements, names, attributes; an ALTREP stays as it is."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import struct
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
    libr_function,
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
        inner = _holding(found)
        if inner is None or inner.type != found.type:
            return None
        found = inner
    return None


def _holding(found: Header) -> Header | None:
    """Where an ALTREP has its elements: a wrapper in data1, others in data2 once it is as long as they are.

    The other slot may be of the same type: what a wrapper knows of its order, a compact sequence's bounds,
    the input of a package's class.
    """
    name, package = altrep_class(found)
    if package == "base":
        return header(found.first if name.startswith("wrap_") else found.second)
    ask, two = libr_function("Rf_xlength"), header(found.second)
    is_whole = two is not None and not two.altrep and ask is not None and two.first == ask(found.address)
    return two if is_whole else None


def altrep_class(head: Header) -> tuple[str, str]:
    """Class and package as the class registered itself (its attrib: a pairlist of two symbols and a type)."""
    kind = header(head.third)
    first = header(kind.attributes) if kind else None
    second = header(first.second) if first else None
    return (symbol_name(first.first) if first else "?", symbol_name(second.first) if second else "?")


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
    if found is None or found.type != STRING:
        return []
    pointers = (elements(found) or ())[:most]
    if found.altrep and (numbers := _numbers_of(found, most)):
        made = [*pointers, *[0] * (len(numbers) - len(pointers))]
        return [text(int(at)) if at else said for at, said in zip(made, numbers, strict=True)]
    return [text(int(one)) for one in pointers]


def _numbers_of(found: Header, most: int) -> list[str | None]:
    """The first strings that a deferred conversion of whole numbers has yet to make."""
    pair = header(found.first) if altrep_class(found) == ("deferred_string", "base") else None
    source = header(pair.first) if pair is not None and pair.type == PAIRLIST else None
    if source is None or source.type != INTEGER:
        return []
    whole = elements(source)
    if whole is None and altrep_class(source) == ("compact_intseq", "base"):
        bounds = _native.read(source.first + DATA, 24)
        count, first, step = struct.unpack("3d", bounds) if bounds else (0, 0, 0)
        whole = array("i", (int(first + step * at) for at in range(min(int(count), most))))
    return [None if one == NA_INTEGER else str(one) for one in (whole or ())[:most]]


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
