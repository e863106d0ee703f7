"""Values inside the record of their own call (native/trace/values/compact_record.h), as in most calls."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from typing import Any, Final

from inspector import _native
from inspector.facts.conversion import Value
from inspector.facts.unknown import Address
from inspector.tracing.events import record_words
from inspector.tracing.events.decode import Events

KINDS: Final = {number: name for name, number, _ in _native.COMPACT_KINDS}
_NUMBERS: Final = (0, 1, 2, record_words.RESULT)
"""Argument number of each half byte of refs_delta; 0 is the object whose method it is."""
_CONSTANTS: Final = {"NONE": ("NoneType", "None"), "TRUE": ("bool", "True"), "FALSE": ("bool", "False")}
_CONTAINERS: Final = ("LIST", "TUPLE", "DICT")
_LOW: Final = (1 << 32) - 1


def values(events: Events, row: int) -> dict[int, Value]:
    """The values by number of the argument, or RESULT."""
    record = events.records[row]
    shape = int(record["refs_delta"]) & 0xFFFF
    left = iter((record["obj"], record["val"], record["aux"]))
    found = {}
    for at, number in enumerate(_NUMBERS):
        kind = KINDS[shape >> 4 * at & 15]
        if kind != "NOTHING":
            found[number] = _value(events, record, kind, left)
    return found


def _value(events: Events, record: Any, kind: str, left: Iterator[Any]) -> Value:
    if kind in _CONSTANTS:
        return Value(*_CONSTANTS[kind], record_words.NO_ADDRESS, (), 0, "")
    if kind == "SMALL":
        return Value("int", str(int(record["refs"])), record_words.NO_ADDRESS, (), 0, "")
    if kind in ("INT", "FLOAT"):
        letter = kind[0].lower()
        text = record_words.plain(letter, next(left))
        return Value(record_words.PLAIN_TYPES[letter], text, record_words.NO_ADDRESS, (), 0, "")
    address = Address(int(next(left)))
    if kind in _CONTAINERS:
        size = int(next(left))
        item_type = events.types[size >> 32] if size >> 32 else ""
        return Value(kind.lower(), "", address, (), size & _LOW, item_type)
    text = record_words.quoted("s", next(left).tobytes() + next(left).tobytes(), int(record["func"]))
    return Value("str", text, address, (), 0, "")
