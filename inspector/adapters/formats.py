"""Element formats of the struct module and of NumPy's typestrings: their sizes, names and values."""

# SPDX-License-Identifier: MIT
import struct

from inspector.facts.unknown import Unknown

_LETTERS = {
    "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q",
    "f2": "e", "f4": "f", "f8": "d", "b1": "?",
}  # fmt: skip
"""NumPy's kind and size -> the struct module's letter."""


def letter(typestr: str) -> str:
    """The struct module's letter of a native number ("d", "@d", "<f8"); "" for other formats."""
    code = typestr.lstrip("@=<|")
    code = _LETTERS.get(code, code)
    return code if len(code) == 1 and code in "bBhHiIlLqQnNefd?" else ""


def number_text(typestr: str, raw: bytes) -> str | Unknown:
    """One number as Python prints it, from its bytes."""
    code = letter(typestr)
    if not code:
        return Unknown(f"elements of format {typestr!r} are not numbers")
    (value,) = struct.unpack(f"@{code}", raw)
    return str(value)


def format_name(typestr: str, itemsize: int) -> str:
    """NumPy's name for the format of a native number: "d" -> "float64"; other formats unchanged."""
    code = letter(typestr)
    if code == "?":
        return "bool"
    for word, codes in (("int", "bhilqn"), ("uint", "BHILQN"), ("float", "efd")):
        if code and code in codes:
            return f"{word}{8 * itemsize}"
    return typestr
