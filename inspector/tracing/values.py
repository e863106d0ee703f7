"""Continuations read as values: arguments, results, and the bytes behind them."""

from __future__ import annotations

import struct
from typing import Any

from inspector.facts.conversion import Span, Value
from inspector.facts.unknown import Address, Unknown
from inspector.tracing.decode import FLAGS, KINDS, Events

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
        type_name=type_name(events, int(head["type"])),
        text=_text(letter, head),
        address=Address(int(head["obj"])),
        spans=spans,
        items=items,
        item_type=item_type,
        is_shape=letter == "L" and bool(head["start"]),
    )


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
    if letter == "b":
        return "True" if row["val"] else "False"
    if letter == "n":
        return "None"
    if letter in "sy":
        return _quoted(letter, row)
    return ""


def _quoted(letter: str, row: Any) -> str:
    """The first 16 characters of a str in ASCII or of bytes."""
    size = int(row["aux"])
    raw: bytes = row["val"].tobytes() + row["start"].tobytes()
    if letter == "y":
        return f"{raw[: min(size, 16)]!r}{'…' if size > 16 else ''}"[:LONGEST_TEXT]
    shown = raw[: min(size, 16)].decode("ascii", "replace")
    known = "\0" not in shown or not size
    return f"{shown!r}{'…' if size > 16 else ''}"[:LONGEST_TEXT] if known else f"{size} characters"
