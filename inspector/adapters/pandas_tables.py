"""pandas: hash tables, which an index builds when it is first asked where a value is."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import sys
from array import array
from typing import Any, Final

from inspector import _native
from inspector.adapters.base import Adapter, type_name
from inspector.adapters.beyond import ODD, Beyond, Counted

_TABLE: Final = object.__basicsize__ + 8
"""Offset of the pointer to the C table, behind that of the methods."""
_COUNTS: Final = 16
"""Bytes of its four 32-bit counts, the first that of its buckets; then pointers to flags, keys and values."""
_INDEX_BYTES: Final = 8
_KEY_BYTES: Final = {
    "PyObject": 8,
    "String": 8,
    "Complex128": 16,
    "Complex64": 8,
    "Float64": 8,
    "Float32": 4,
    **{f"{sign}Int{bits}": bits // 8 for sign in ("", "U") for bits in (8, 16, 32, 64)},
}
MOST_KEYS: Final = 1_000_000
"""Objects that a table keeps as keys and that are looked at."""


class HashTables(Adapter):
    """Each table by the name of its exact type; a release with other structs fails the self test."""

    library = "pandas"
    versions = ("2.2", "4")
    exact = tuple(f"_libs.hashtable.{kind}HashTable" for kind in _KEY_BYTES)

    def self_test(self) -> None:
        """A table tells its size, and its keys are found."""
        tables = sys.modules.get("pandas._libs.hashtable")
        if tables is None:
            return
        key, made = object(), tables.PyObjectHashTable(100)
        made.set_item(key, 1)
        buckets, flags, keys, _ = _struct(made)
        if _keys(buckets, flags, keys) != [id(key)] or made.sizeof() < buckets * 16:
            raise ValueError("a hash table's struct is not as expected")

    def beyond(self, x: Any, found: Beyond) -> None:
        """Its three blocks, and of objects the references that it has taken."""
        kind = type_name(type(x)).rpartition(".")[2].removesuffix("HashTable")
        buckets, flags, keys, values = _struct(x)
        if not buckets:
            return
        sizes = ((flags, (buckets + 31) // 32 * 4), (keys, buckets * _KEY_BYTES[kind]))
        blocks = (*sizes, (values, buckets * _INDEX_BYTES))
        held: list[int] = []
        if kind == "PyObject":
            held = _keys(buckets, flags, keys)
            if len(held) > MOST_KEYS:
                found.why, held = f"a hash table keeps more than {MOST_KEYS:,} objects", []
        found.add(Counted(id(x), 0, 0, "", (0, 0), (*(at | ODD for at, _ in blocks), *held)))
        for at, size in blocks:
            found.add(Counted(at | ODD, 1, size, "hash table of pandas", (at, at + size), ()))


def _struct(x: Any) -> tuple[int, int, int, int]:
    """(buckets; addresses of flags, keys and values)."""
    table = _words(id(x) + _TABLE, 1)[0]
    buckets = _words(table, 1)[0] & 0xFFFFFFFF
    flags, keys, values = _words(table + _COUNTS, 3)
    return buckets, flags, keys, values


def _keys(buckets: int, flags: int, keys: int) -> list[int]:
    """The keys of an object table: a flag that is set says that its bucket is empty."""
    if not buckets:
        return []
    empty = int.from_bytes(_bytes(flags, (buckets + 31) // 32 * 4), "little")
    marks = f"{empty:0{buckets}b}"[::-1]
    return [key for key, mark in zip(_words(keys, buckets), marks, strict=False) if mark == "0"]


def _words(address: int, count: int) -> array[int]:
    return array("Q", _bytes(address, 8 * count))


def _bytes(address: int, size: int) -> bytes:
    read = _native.read(address, size)
    if read is None:
        raise ValueError("a hash table's struct cannot be read")
    return read


ADAPTER = HashTables()
