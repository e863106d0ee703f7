"""The columns of a table: where their bytes are, and which objects share them."""

# SPDX-License-Identifier: MIT
from dataclasses import dataclass

from inspector.facts.unknown import Address, Unknown

ROWS_UNKNOWN = Unknown("no column is one strided block")


@dataclass(frozen=True, slots=True)
class Part:
    """One column."""

    name: str
    format: str
    """Element type as the library prints it: "float64", "category"."""
    bytes: int | Unknown
    """Logical bytes of its elements and of their mask or codes."""
    step_bytes: int | Unknown
    """Stride from one row to the next; unknown if its bytes are not one strided block."""
    block: int
    """Number of its block: columns of one block lie in one array."""
    holders: int | Unknown
    """Objects of the library that share the block's bytes copy-on-write, the table included."""
    owner: Address | Unknown
    """The object that owns the bytes."""
    owner_name: str
    """The user's name for the owner; "" if there is none."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The named parts of an object, such as the columns of a table."""

    parts: tuple[Part, ...]
    """The first columns, in the table's order."""
    total: int
    blocks: int
    rows: int | Unknown = ROWS_UNKNOWN

    def __repr__(self) -> str:
        names = ", ".join(part.name for part in self.parts[:4])
        return f"<Parts: {self.total:,} columns in {self.blocks:,} blocks: {names}>"
