"""Decode continuation records into values: arguments, results, and their bytes."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from typing import Any, Final

from inspector.facts.conversion import Span, Value
from inspector.facts.unknown import Address, Unknown
from inspector.tracing.events import capi_rows, compact_records, record_words
from inspector.tracing.events.decode import FLAGS, KINDS, Events
from inspector.tracing.events.span_flags import SPAN_C, SPAN_F, SPAN_READONLY

C_TYPES = (
    *("void", "int", "float", "double", "long double", "uint8", "int8", "uint16", "int16", "uint32", "int32"),
    *("uint64", "int64", "struct", "pointer", "complex"),
)
"""By libffi's type number (include/ffi.h)."""
_C_LETTERS = "IUFPVN"
PLAIN: Final = KINDS.get("PLAIN", -1)
_WORDS: Final = ("start", "obj", "val", "aux")
_NO_RESULT: Final = Unknown("the call failed or gave no object")
_CONTIGUOUS: dict[int, Any] = {0: "", SPAN_C: "C", SPAN_F: "F", SPAN_C | SPAN_F: "CF"}


def read(events: Events, call: int, stop: int) -> tuple[tuple[Value, ...], Value | Unknown]:
    """(arguments, result) in the record of row `call` and its continuations, which end before row `stop`."""
    arguments: dict[int, list[Any]] = {}
    plain = compact_records.values(events, call) if is_compact(events.records[call]) else {}
    result: list[Any] = []
    for row in events.records[call + 1 : stop]:
        if row["kind"] == PLAIN:
            plain.update(_plain(row))
            continue
        flags = int(row["flags"])
        number = int(row["lasti"] if row["kind"] == KINDS["VALUE"] else row["slot"])
        place = result if flags & FLAGS["OUTPUT"] else arguments.setdefault(number, [])
        if row["kind"] in (KINDS["SPAN"], KINDS["VALUE"], KINDS["BUFFER"]):
            place.append(row)
    told = {number: _value(events, rows) for number, rows in arguments.items() if rows} | plain
    made = told.pop(record_words.RESULT, None) or (_value(events, result) if result else _NO_RESULT)
    return tuple(told[number] for number in sorted(told)), made


def is_compact(record: Any) -> bool:
    """Whether the words of a call's record are its values."""
    return bool(record["flags"] & FLAGS["COMPACT"])


def _plain(row: Any) -> Iterator[tuple[int, Value]]:
    """(number of the argument or RESULT, value) for the numbers in one record."""
    letters, numbers = (int(row[field]).to_bytes(4, "little", signed=True) for field in ("refs", "lasti"))
    for at in range(int(row["func"])):
        letter = chr(letters[at])
        text = record_words.plain(letter, row[_WORDS[at]])
        yield numbers[at], Value(record_words.PLAIN_TYPES[letter], text, record_words.NO_ADDRESS, (), 0, "")


def _value(events: Events, rows: list[Any]) -> Value:
    """One value from its VALUE record, then its spans and those of its items."""
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
    """The object whose finalizer ran, and a capsule's name."""
    head = events.records[row]
    named = [capi_rows.text_of(one) for one in events.records[row + 1 : stop] if one["kind"] == KINDS["TEXT"]]
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
    """The value itself, if a record holds it."""
    if letter == "i" and row["aux"]:
        return f"an int of {int(row['aux'])} digits"
    if letter in record_words.PLAIN_TYPES:
        return record_words.plain(letter, row["val"])
    if letter in _C_LETTERS:
        return record_words.of_c(letter, row["val"])
    raw: bytes = row["val"].tobytes() + row["start"].tobytes()
    return record_words.quoted(letter, raw, int(row["aux"])) if letter in "sy" else ""
