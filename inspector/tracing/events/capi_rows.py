"""The rows of the hooked C-API functions: decode a record's words as values."""

# SPDX-License-Identifier: MIT
import re
import struct
from typing import Any, Final, Literal

from inspector import _native

ROWS: Final[tuple[tuple[str, ...], ...]] = getattr(_native, "CAPI_ROWS", ())
_DIRECTIONS: Final[dict[str, Literal["to native", "to Python"]]] = {
    "TO_C": "to native",
    "TO_PYTHON": "to Python",
}
_OWNED: Final = {"NEW": "new", "BORROWED": "borrowed", "SCALAR": "scalar"}
_UNSIGNED_FORMATS: Final = "IkKHB"
_FLOAT_FORMATS: Final = "df"
_TEXT_FORMATS: Final = "szyUSY"


def name(row: int) -> str:
    """The function's name in C source: PY_SSIZE_T_CLEAN turns some into `_name_SizeT`."""
    said = ROWS[row][0] if row < len(ROWS) else f"function {row}"
    return said.removeprefix("_").removesuffix("_SizeT") if said.endswith("_SizeT") else said


def direction(row: int) -> Literal["to native", "to Python", ""]:
    """The direction of its conversion."""
    return _DIRECTIONS.get(ROWS[row][10], "") if row < len(ROWS) else ""


def takes_format(row: int) -> bool:
    """Whether its values follow a format, its first text."""
    return row < len(ROWS) and "format" in ROWS[row][2]


def owned(row: int) -> str:
    """Ownership of its result: new, borrowed, scalar; "" for anything else."""
    return _OWNED.get(ROWS[row][8], "") if row < len(ROWS) else ""


def value_text(row: int, word: int) -> str:
    """The record's `val` by the function's C type; "" for pointers and without a type."""
    kind = _value_type(ROWS[row]) if row < len(ROWS) else ""
    if not kind or "*" in kind or kind in ("void", "int status"):
        return ""
    if kind in ("double", "float"):
        return repr(as_double(word))
    return str(word if kind.startswith(("unsigned", "size_t", "uint", "Py_UCS4")) else as_signed(word))


def _value_type(row: tuple[str, ...]) -> str:
    """The C type of the result or parameter that the `val` column names."""
    if row[4] == "result":
        return "" if row[8] in ("STATUS", "NOTHING", "NEW", "BORROWED", "POINTER") else row[1]
    found = re.search(rf"([\w ]+[ *]+){re.escape(row[4])}\b", row[2])
    return found[1].strip() if found else ""


def format_text(letter: str, word: int) -> str:
    """One value of a format call: "i" 35."""
    if letter in _FLOAT_FORMATS:
        return repr(as_double(word))
    if letter in "OSUNY" or letter in _TEXT_FORMATS:
        return ""
    if letter == "p":
        return "True" if word else "False"
    return str(word if letter in _UNSIGNED_FORMATS else as_signed(word))


def as_signed(word: int) -> int:
    """64 bits as a signed number."""
    return word - (1 << 64) if word >> 63 else word


def as_double(word: int) -> float:
    """64 bits as a double."""
    found: float = struct.unpack("<d", struct.pack("<Q", word))[0]
    return found


def as_single(word: int) -> float:
    """32 bits as a float."""
    found: float = struct.unpack("<f", struct.pack("<I", word))[0]
    return found


def text_of(record: Any) -> str:
    """The text of a TEXT continuation: the bytes of obj, val and aux, `duration` of them, cut at 24."""
    size = int(record["duration"])
    raw = record["obj"].tobytes() + record["val"].tobytes() + record["aux"].tobytes()
    return f"{raw[: min(size, 24)].decode('utf-8', 'replace')!r}{'…' if size > 24 else ''}"
