"""R's lazy vectors: class and data slots of an ALTREP, read from memory in the layout of each class.

R's own classes (src/main/altclasses.c): a compact sequence has (length, first, step) in data1 and the
expanded vector in data2; a deferred string has a pairlist with its input in data1 and the strings made so far
in data2, NULL where one is missing; a wrapper wraps data1; a mapped file has an external pointer in data1 and
its state in data2.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import struct

from inspector import _native
from inspector.facts.r_object import LazyState, Made
from inspector.facts.unknown import Unknown
from inspector.objects.layouts import r_vectors
from inspector.objects.layouts.r_objects import (
    DATA,
    ITEM_BYTES,
    PAIRLIST,
    POINTER,
    TYPES,
    Header,
    header,
    libr_function,
)

SMALL = (0, 8, 16, 32, 48, 64, 128)
"""Sizes to which R's allocator rounds the elements of small vectors; larger ones to 8 bytes."""
CELL, HEADER = 56, 48


def length(found: Header) -> int | Unknown:
    """Number of elements; of an ALTREP, its Length method says it."""
    if found.type not in ITEM_BYTES:
        return Unknown("it is no vector")
    if not found.altrep:
        return found.first
    ask = libr_function("Rf_xlength")
    return Unknown("R cannot be asked in this thread") if ask is None else int(ask(found.address))


def own_bytes(found: Header | None, depth: int = 0) -> int:
    """What the object occupies; of an ALTREP with its data slots."""
    if found is None or found.type == 0:
        return 0
    if found.altrep:
        slots = (header(found.first), header(found.second))
        return CELL + (sum(own_bytes(one, depth + 1) for one in slots) if depth < 4 else 0)
    if found.type == 9 or found.type in ITEM_BYTES:
        data = found.first * ITEM_BYTES.get(found.type, 1) + (found.type == 9)
        return HEADER + next((one for one in SMALL if data <= one), -(-data // 8) * 8)
    if found.type == PAIRLIST and 0 < depth < 4:
        return CELL + own_bytes(header(found.first), depth + 1)
    return CELL


def state(found: Header) -> LazyState:
    """The state of an ALTREP: by its layout where that is known, else by the data slots."""
    name, package = r_vectors.altrep_class(found)
    words, made, count = _known(found, name) if package == "base" else _other(found, name, package)
    return LazyState(
        name,
        package,
        words,
        made,
        count,
        _class_bytes(found),
        slot_text(found.first),
        slot_text(found.second),
    )


def _known(found: Header, name: str) -> tuple[str, Made | Unknown, int | Unknown]:
    total = length(found)
    one, two = header(found.first), header(found.second)
    if name.startswith("compact_") and one is not None:
        raw = _native.read(one.address + DATA, 24)
        count, first, step = struct.unpack("3d", raw) if raw else (0.0, 0.0, 1.0)
        words = f"compact sequence {first:,.10g} : {first + step * (count - 1):,.10g}"
        return (words, *_all_or_none(two is not None and two.type == found.type, total))
    if name == "deferred_string":
        return _deferred(one, two, total)
    if name.startswith("wrap_") and one is not None:
        whole = state(one) if one.altrep else None
        told = "all" if whole is None else whole.made
        words = "wrapper" if whole is None else f"wrapper of a {whole.stands_for}"
        return words, told, total if whole is None else whole.made_elements
    if name.startswith("mmap_"):
        return "mapped file", "all", total
    return _other(found, name, "base")


def _deferred(
    one: Header | None, two: Header | None, total: int | Unknown
) -> tuple[str, Made | Unknown, int | Unknown]:
    """Strings that are made one by one from numbers."""
    source = header(one.first) if one is not None and one.type == PAIRLIST else None
    over = f" over a {state(source).stands_for}" if source is not None and source.altrep else ""
    words = f"deferred string conversion{over}"
    if source is None:
        return (words, *_all_or_none(True, total))
    raw = _native.read(two.address + DATA, 8 * two.first) if two is not None and two.type == 16 else b""
    made = 0 if not raw else len(raw) // 8 - memoryview(raw).cast("Q").tolist().count(0)
    return words, "none" if not made else "all" if made == total else "part", made


def _other(found: Header, name: str, package: str) -> tuple[str, Made | Unknown, int | Unknown]:
    """A package's class: materialized if data2 is such a vector, or where the class has a pointer already."""
    total, two = length(found), header(found.second)
    words = f"class {name} of {package}"
    if two is not None and two.type == found.type and not two.altrep and two.first == total:
        return (words, *_all_or_none(True, total))
    ask = libr_function("DATAPTR_OR_NULL")
    if ask is None:
        why = Unknown("R cannot be asked in this thread")
        return words, why, why
    pointer = header(found.first)
    mapped = " (its bytes are another's)" if pointer is not None and pointer.type == POINTER else ""
    there = bool(ask(found.address))
    return (words + (mapped if there else ""), *_all_or_none(there, total))


def _all_or_none(there: bool, total: int | Unknown) -> tuple[Made, int | Unknown]:
    return ("all", total) if there else ("none", 0)


def _class_bytes(found: Header) -> int:
    kind = header(found.third)
    pairs, pair = 0, header(kind.attributes) if kind else None
    while pair is not None and pair.type == PAIRLIST and pairs < 8:
        pairs, pair = pairs + 1, header(pair.second)
    return own_bytes(kind) + pairs * CELL


def slot_text(address: int) -> str:
    """A data slot in R's words."""
    held = header(address)
    if held is None:
        return "unreadable"
    return "NULL" if held.type == 0 else f"{TYPES.get(held.type, 'object')} at {address:#x}"


def text(found: Header, at: int) -> str:
    """One element of a plain vector as R prints it."""
    plain = r_vectors.plain_of(found)
    size = ITEM_BYTES[found.type]
    raw = _native.read(plain.address + DATA + at * size, size) if plain is not None else None
    if raw is None:
        return "?"
    if found.type == r_vectors.STRING and not any(raw):
        return "(not made)"
    if found.type == r_vectors.STRING:
        said = r_vectors.text(int.from_bytes(raw, "little"))
        return "NA" if said is None else f'"{said}"' if len(said) <= 20 else f'"{said[:19]}…"'
    if found.type in (r_vectors.LOGICAL, r_vectors.INTEGER):
        value = int.from_bytes(raw, "little", signed=True)
        words = {0: "FALSE"}.get(value, "TRUE") if found.type == r_vectors.LOGICAL else str(value)
        return "NA" if value == r_vectors.NA_INTEGER else words
    if found.type == r_vectors.REAL:
        return _number(raw)
    if found.type == r_vectors.COMPLEX:
        real, imaginary = _number(raw[:8]), _number(raw[8:])
        sign = "" if imaginary.startswith("-") else "+"
        return "NA" if "NA" in (real, imaginary) else f"{real}{sign}{imaginary}i"
    return f"{raw[0]:02x}"


def _number(raw: bytes) -> str:
    """A double; NA is any NaN whose low word is 1954 (R's arithmetic.c), as 1 + NA leaves it too."""
    (value,) = struct.unpack("d", raw)
    if value != value:
        return "NA" if raw[:4] == struct.pack("<I", 1954) else "NaN"
    return f"{value:.7g}".replace("inf", "Inf")
