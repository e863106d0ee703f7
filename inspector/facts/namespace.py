"""A namespace as a table: each name, what it holds, and who shares memory with whom."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.facts.materialization import NO_BYTES
from inspector.facts.memory import Range
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
    """One of facts.materialization.STATES; "?" where it is unknown; items of a container; "" for the rest."""
    group: int
    """Rows with the same group (1, 2, ...) share memory; 0 shares with nobody."""
    shares: str
    """"of big": which name owns the bytes; "" for the owner itself or where nobody shares."""
    resident_fraction: float | Unknown = NO_BYTES
    """Share of its payload's bytes that is in memory; unknown where it has none here."""
    spans: tuple[Range, ...] = ()
    """Where its payload lies, the first 16 blocks; of a strided one from the lowest byte to the highest."""
    spans_left_out: int = 0


@dataclass(frozen=True, slots=True)
class Namespace:
    """The names of a namespace, the heaviest first, every byte counted once."""

    rows: tuple[Row, ...]
    total_bytes: int
    """Every byte counted once, whoever shares it."""
    left_out: int
    """Names not shown because of the bound."""
    resident_bytes: int | Unknown = NO_BYTES
    """Of all names' payloads, in memory now; every byte counted once."""
    shared_bytes: int = 0
    """What names have of one another's memory: the bytes of all names together, less `total_bytes`."""

    def __repr__(self) -> str:
        return f"<Namespace: {len(self.rows) + self.left_out:,} names, {self.total_bytes:,} bytes>"
