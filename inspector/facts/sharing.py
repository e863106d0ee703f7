"""Which objects share bytes: proved, or possible, with the address ranges."""

# SPDX-License-Identifier: MIT
from dataclasses import dataclass

from inspector.facts.memory import Range
from inspector.facts.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Sharing:
    """Whether two objects share bytes."""

    overlap: bool | Unknown
    """True or False if proved; unknown if only the extents overlap and the proof is too expensive."""
    overlap_bytes: int | Unknown
    """Number of bytes that belong to elements of both, each counted once."""
    ranges: tuple[Range, ...]
    """Address ranges in which the extents of both overlap."""
    file: str = ""
    """The file that both map at different addresses, where `ranges` are the first object's; "": none."""
    shift_bytes: int = 0
    """What leads from an address of the second object to the same byte of the file in the first."""

    def __repr__(self) -> str:
        if isinstance(self.overlap, Unknown):
            return f"<Sharing: {self.overlap}>"
        size = self.overlap_bytes
        shared = f"bytes {size}" if isinstance(size, Unknown) else f"{size:,} bytes"
        return f"<Sharing: {shared if self.overlap else 'no byte'}{' of one file' if self.file else ''}>"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two names and what they share."""

    left: str
    right: str
    sharing: Sharing


@dataclass(frozen=True, slots=True)
class PartSharing:
    """One column of a table, and whether the other object has bytes of it."""

    table: str
    """The name of the table."""
    part: str
    """The column."""
    overlap: bool | Unknown
    overlap_bytes: int | Unknown
    beside: tuple[str, ...]
    """The other table's columns with bytes of it; () if the other object is no table."""
