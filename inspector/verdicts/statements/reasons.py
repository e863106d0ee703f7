"""The reason of a copy in a few words: "float64 → float32", "1,000 Python ints → int64"."""

# SPDX-License-Identifier: MIT
import re

from inspector.facts.conversion import Copy
from inspector.facts.statements import Bound

_ITEMS = re.compile(r"(?:list|tuple) of ([\d,]+) (\w+)$")
_ARRAYS = re.compile(r"^(?:ndarray|Series|Tensor)\b ?")

_OF_LIBRARIES = ("ndarray", "Tensor", "Series", "Index", "DataFrame", "ChunkedArray", "Table", "Array")

_TYPES = re.compile(
    r"element type changes: .*?(int|uint|float|complex)(\d+) → .*?(int|uint|float|complex)(\d+)$"
)
_RANK = ("uint", "int", "float", "complex")


def narrows(copy: Copy) -> bool:
    """Whether a call changed the element type to one that cannot hold all values of the other."""
    found = _TYPES.match(copy.reason)
    if found is None:
        return False
    kind, bits, other, others = found.groups()
    return _RANK.index(other) < _RANK.index(kind) or int(others) < int(bits)


def brief(copy: Copy) -> str:
    """What changed from the source to the result; else the reason as it is."""
    if copy.reason.endswith("are joined into one"):
        return copy.reason
    items = _ITEMS.match(copy.source)
    result = _kind(copy.result)
    if items:  # of what is of the items' own type nothing is said
        return f"{_many(*items.groups())} → {result}" if items[2] != result.partition(" ")[0] else ""
    if copy.reason.startswith("element type changes: "):
        return " → ".join(map(_kind, copy.reason.partition(": ")[2].split(" → ")))
    if copy.reason.startswith("layout changes: "):
        return copy.reason.partition(": ")[2]
    return copy.reason


def _kind(side: str) -> str:
    """The element kind of an array; the type of what has none."""
    return _ARRAYS.sub("", side) or side


def _many(count: str, kind: str) -> str:
    return f"{count} {'' if kind in _OF_LIBRARIES else 'Python '}{_plural(count, kind)}"


def _plural(count: str, kind: str) -> str:
    return f"{kind}s" if count != "1" and not kind.endswith("s") else kind


def into_items(value: Bound) -> str:
    """Of a list or tuple made from the elements of an object."""
    count, _, kind = value.became.partition(" ")
    return f"became {count} {_plural(count, kind)}"


def of_items(value: Bound) -> str:
    """Of a value made from a list or tuple."""
    count, _, kind = value.items.partition(" ")
    return f"from {_many(count, kind)}"


def of_parts(value: Bound) -> str:
    """Of a value made from an object of several blocks; "" of one with a single block."""
    return f"{value.parts:,} columns become one array" if value.parts > 1 else ""
