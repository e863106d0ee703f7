"""Continuations read as values: arguments, results, and the bytes behind them."""

from __future__ import annotations

import struct
from typing import Any

from inspector.facts.conversion import Span, Value
from inspector.facts.unknown import Address, Unknown
from inspector.tracing import functions
from inspector.tracing.decode import FLAGS, KINDS, Events

C_TYPES = (
    *("void", "int", "float", "double", "long double", "uint8", "int8", "uint16", "int16", "uint32", "int32"),
    *("uint64", "int64", "struct", "pointer", "complex"),
)
"""By libffi's number of the type (include/ffi.h)."""
_C_LETTERS = "IUFPVN"
SPAN_C, SPAN_F, SPAN_READONLY = 1, 2, 4
LONGEST_TEXT = 24
_CONTIGUOUS: dict[int, Any] = {0: "", SPAN_C: "C", SPAN_F: "F", SPAN_C | SPAN_F: "CF"}


def read(events: Events, first: int, stop: int) -> tuple[tuple[Value, ...], Value | Unknown]:
    """(arguments, result) told by the continuations in rows [first, stop)."""
    arguments: dict[int, list[Any]] = {}
    result: list[Any] = []
    for row in events.records[first:stop]:
        flags = int(row["flags"])
        number = int(row["lasti"] if row["kind"] == KINDS["VALUE"] else row["slot"])
        place = result if flags & FLAGS["OUTPUT"] else arguments.setdefault(number, [])
        if row["kind"] in (KINDS["SPAN"], KINDS["VALUE"], KINDS["BUFFER"]):
            place.append(row)
    given = tuple(_value(events, rows) for _, rows in sorted(arguments.items()) if rows)
    return given, _value(events, result) if result else Unknown("the call failed or gave no object")


def _value(events: Events, rows: list[Any]) -> Value:
    """One value: its VALUE record first, then its spans, and those of the items in it."""
    head = rows[0]
    spans = tuple(_span(row) for row in rows if row["kind"] != KINDS["VALUE"])
    letter = chr(head["func"]) if head["kind"] == KINDS["VALUE"] else "o"
    items = int(head["aux"]) if letter in "LD" else 0
    item_type = events.types[int(head["val"])] if letter == "L" and head["val"] else ""
    return Value(
        type_name=_c_type(head) if letter in _C_LETTERS else type_name(events, int(head["type"])),
        text=_text(letter, head),
        address=Address(int(head["obj"])),
        spans=spans,
        items=items,
        item_type=item_type,
        is_shape=letter == "L" and bool(head["start"]),
    )


def finalized(events: Events, row: int, stop: int) -> tuple[Value, ...]:
    """The object whose finalizer ran: a capsule has a name."""
    head = events.records[row]
    named = [functions.text_of(one) for one in events.records[row + 1 : stop] if one["kind"] == KINDS["TEXT"]]
    kind = type_name(events, int(head["type"]))
    return (Value(kind, "".join(named), Address(int(head["obj"])), (), 0, ""),)


def _c_type(head: Any) -> str:
    number = int(head["start"])
    return C_TYPES[number] if number < len(C_TYPES) else f"type {number} of libffi"


def type_name(events: Events, number: int) -> str | Unknown:
    """The full name of an interned type."""
    known = events.types[number] if number < len(events.types) else ""
    return known or Unknown("the type was not recorded")


def _span(row: Any) -> Span:
    if row["kind"] == KINDS["BUFFER"]:
        size = int(row["aux"])
        return Span(Address(int(row["val"])), size, size, int(row["lasti"]), "", "", False)
    flags = int(row["refs"])
    return Span(
        address=Address(int(row["val"])),
        span_bytes=int(row["aux"]),
        logical_bytes=int(row["start"]),
        item_bytes=int(row["lasti"]),
        kind=chr(row["func"]) if row["func"] else "",
        contiguous=_CONTIGUOUS[flags & (SPAN_C | SPAN_F)],
        read_only=bool(flags & SPAN_READONLY),
    )


def _text(letter: str, row: Any) -> str:
    """The value itself, where a record holds it."""
    if letter == "i":
        return f"an int of {int(row['aux'])} digits" if row["aux"] else str(int(row["val"].astype("i8")))
    if letter == "f":
        return repr(struct.unpack("<d", row["val"].tobytes())[0])
    if letter in _C_LETTERS:
        return _c_text(letter, row)
    if letter == "b":
        return "True" if row["val"] else "False"
    if letter == "n":
        return "None"
    if letter in "sy":
        return _quoted(letter, row)
    return ""


def _c_text(letter: str, row: Any) -> str:
    """A word of C: a number, an address; "" for a struct and where there is none."""
    if letter == "F":
        return repr(struct.unpack("<d", row["val"].tobytes())[0])
    if letter == "P":
        return f"{int(row['val']):#x}" if row["val"] else "NULL"
    return "" if letter in "VN" else str(int(row["val"].astype("i8")) if letter == "I" else int(row["val"]))


def _quoted(letter: str, row: Any) -> str:
    """The first 16 characters of a str in ASCII or of bytes."""
    size = int(row["aux"])
    raw: bytes = row["val"].tobytes() + row["start"].tobytes()
    if letter == "y":
        return f"{raw[: min(size, 16)]!r}{'…' if size > 16 else ''}"[:LONGEST_TEXT]
    shown = raw[: min(size, 16)].decode("ascii", "replace")
    known = "\0" not in shown or not size
    return f"{shown!r}{'…' if size > 16 else ''}"[:LONGEST_TEXT] if known else f"{size} characters"
