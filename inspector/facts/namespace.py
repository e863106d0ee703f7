"""A namespace as a table: each name, its object, and which names share memory."""

# SPDX-License-Identifier: MIT
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
    """Payload bytes if the object exposes bytes, else its own size."""
    references: int | ImmortalType
    state: str
    """One of facts.materialization.STATES; "?" if unknown; for a container its items; "" for the rest."""
    group: int
    """Rows with the same group (1, 2, ...) share memory; 0: shares none."""
    shares: str
    """The name that owns the bytes: "of big"; "" for the owner itself and if nothing is shared."""
    resident_fraction: float | Unknown = NO_BYTES
    """Fraction of its payload in memory; unknown if it has no payload in this process."""
    spans: tuple[Range, ...] = ()
    """Address ranges of the first 16 payload blocks; a strided block from its lowest byte to its highest."""
    spans_left_out: int = 0


@dataclass(frozen=True, slots=True)
class Namespace:
    """The column `namespace`: the result of `%inspect` without arguments."""

    rows: tuple[Row, ...]
    total_bytes: int
    """Bytes of all names; a shared byte is counted once."""
    left_out: int
    """Names left out because of the bound."""
    resident_bytes: int | Unknown = NO_BYTES
    """Payload bytes of all names that are in memory now; each byte counted once."""
    shared_bytes: int = 0
    """Bytes counted for several names: the sum over all names minus `total_bytes`."""

    def __repr__(self) -> str:
        return f"<Namespace: {len(self.rows) + self.left_out:,} names, {self.total_bytes:,} bytes>"
