"""Which objects share bytes: proved overlap, or may share, with the range."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.facts.memory import Range
from inspector.facts.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Sharing:
    """Whether two objects share bytes."""

    overlap: bool | Unknown
    """True or False where proved; unknown where only the extents overlap and the proof is too hard."""
    overlap_bytes: int | Unknown
    """Distinct bytes that belong to elements of both."""
    ranges: tuple[Range, ...]
    """Where the extents of the two overlap."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two names and what they share."""

    left: str
    right: str
    sharing: Sharing
