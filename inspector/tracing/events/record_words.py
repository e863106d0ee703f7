"""Decode the 64-bit words of a record into the text of their value."""

# SPDX-License-Identifier: MIT
import struct
from typing import Any, Final

from inspector.facts.unknown import Unknown

RESULT: Final = 128
"""The argument number of a result."""
PLAIN_TYPES: Final = {"i": "int", "f": "float", "b": "bool", "n": "NoneType"}
NO_ADDRESS: Final = Unknown("of numbers, truths and None the value is kept, not the address")
LONGEST_TEXT = 24


def plain(letter: str, word: Any) -> str:
    """The text of a number, a bool or None."""
    if letter == "f":
        return repr(struct.unpack("<d", word.tobytes())[0])
    if letter == "b":
        return "True" if word else "False"
    return "None" if letter == "n" else str(int(word.astype("i8")))


def of_c(letter: str, word: Any) -> str:
    """The text of a C word: a number or address; "" for a struct and for void."""
    if letter == "F":
        return repr(struct.unpack("<d", word.tobytes())[0])
    if letter == "P":
        return f"{int(word):#x}" if word else "NULL"
    return "" if letter in "VN" else str(int(word.astype("i8")) if letter == "I" else int(word))


def quoted(letter: str, raw: bytes, size: int) -> str:
    """The first 16 characters of an ASCII str, or of bytes; `size` is the full length."""
    if letter == "y":
        return f"{raw[: min(size, 16)]!r}{'…' if size > 16 else ''}"[:LONGEST_TEXT]
    shown = raw[: min(size, 16)].decode("ascii", "replace")
    known = "\0" not in shown or not size
    return f"{shown!r}{'…' if size > 16 else ''}"[:LONGEST_TEXT] if known else f"{size} characters"
