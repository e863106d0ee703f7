"""A namespace as a table: each name, what it holds, and who shares memory with whom."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.facts.unknown import Address, ImmortalType, Unknown


@dataclass(frozen=True, slots=True)
class Row:
    """One name."""

    name: str
    type_name: str
    """Short: "ndarray f8", "dict"."""
    address: Address
    bytes: int | Unknown
    """Payload bytes where the object lays bytes open, else its own size."""
    references: int | ImmortalType
    state: str
    """"owned", "view", "shared-foreign", ...; "" where the object has no payload."""
    group: int
    """Rows with the same group (1, 2, ...) share memory; 0 shares with nobody."""
    shares: str
    """"of big": which name owns the bytes; "" for the owner itself or where nobody shares."""


@dataclass(frozen=True, slots=True)
class Namespace:
    """The column-less fact behind `%inspect` alone."""

    rows: tuple[Row, ...]
    total_bytes: int
    """Every byte counted once, whoever shares it."""
    left_out: int
    """Names not shown because of the bound."""

    def __repr__(self) -> str:
        return f"<Namespace: {len(self.rows) + self.left_out:,} names, {self.total_bytes:,} bytes>"
