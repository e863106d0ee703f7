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

    def __repr__(self) -> str:
        if isinstance(self.overlap, Unknown):
            return f"<Sharing: {self.overlap}>"
        size = self.overlap_bytes
        shared = f"bytes {size}" if isinstance(size, Unknown) else f"{size:,} bytes"
        return f"<Sharing: {shared if self.overlap else 'no byte'}>"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two names and what they share."""

    left: str
    right: str
    sharing: Sharing
