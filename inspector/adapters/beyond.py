"""What objects own beyond Python: counted objects of C++, and what those own."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable
from typing import Any

from inspector.facts.record import dataclass

MOST_UNTRAVERSED = 1_000
"""References of a C struct that are followed for a card; a hash table has millions, to keys of others."""
ODD = 1
"""Set in the address of what is no Python object: such addresses are even."""


@dataclass(frozen=True, slots=True)
class Counted:
    """An object that is freed when its count is 0; of a Python object, only what it owns besides."""

    address: int
    references: int
    """0 for a Python object."""
    own_bytes: int
    """Of its struct and of `span`."""
    kind: str
    span: tuple[int, int]
    """Start and stop of the bytes that it frees; both 0 where there are none."""
    owns: tuple[int, ...]
    """Addresses, each as often as it is referred to; with ODD, if of C++."""


class Beyond:
    """All that is known to be counted, by address; why it is not all, or ""."""

    def __init__(self) -> None:
        self.rows: dict[int, Counted] = {}
        self.why = ""

    def add(self, row: Counted) -> None:
        """A row, once; of a Python object's rows, what all of them say it owns."""
        self.rows[row.address] = row

    def add_block(self, owner: int, address: int, size: int, kind: str) -> None:
        """A block of memory that the Python object at `owner` alone owns."""
        self.add(Counted(owner, 0, 0, "", (0, 0), (address | ODD,)))
        self.add(Counted(address | ODD, 1, size, kind, (address, address + size), ()))

    def named(self, *, by_cpp: bool = False, besides: Collection[int] = ()) -> list[Any]:
        """The Python objects that rows own, with references.

        `by_cpp`: only those that C++ owns, and a few of `besides`, objects without a tp_traverse.
        """
        import ctypes  # a process without such objects does not load it

        rows = (row for row in self.rows.values() if row.address & ODD or not by_cpp or _few(row, besides))
        owned = {address for row in rows for address in row.owns if not address & ODD}
        return [ctypes.cast(address, ctypes.py_object).value for address in owned]

    def words(self) -> tuple[array[int], array[int]]:
        """(rows by address, references) as `_native.retained` takes them."""
        rows, references = array("Q"), array("Q")
        for address, row in sorted(self.rows.items()):
            rows.extend((address, row.references, len(references), len(row.owns)))
            references.extend(row.owns)
        return rows, references

    def sums(self, addresses: Iterable[int]) -> list[tuple[str, int, int]]:
        """(kind, objects, bytes) of rows."""
        found: dict[str, tuple[int, int]] = {}
        for row in map(self.rows.__getitem__, addresses):
            objects, size = found.get(row.kind, (0, 0))
            found[row.kind] = objects + 1, size + row.own_bytes
        return [(kind, *both) for kind, both in found.items()]


def _few(row: Counted, besides: Collection[int]) -> bool:
    return row.address in besides and len(row.owns) <= MOST_UNTRAVERSED
