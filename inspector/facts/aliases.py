"""All objects over one range of bytes, whatever library they belong to."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.facts.finding import Finding
from inspector.facts.memory import Range
from inspector.facts.unknown import Address, Unknown


@dataclass(frozen=True, slots=True)
class Alias:
    """One object with bytes in the range."""

    name: str
    """The user's name for it, or its type."""
    type_name: str
    library: str
    """"numpy", "torch"; "" for Python itself."""
    address: Address
    """Of the object."""
    range: Range
    """Its bytes, all its blocks together."""
    common_bytes: int
    """Address space it has in common with the subject."""
    state: str
    """One of facts.materialization.STATES; "?" where it is unknown."""
    writable: bool | Unknown
    subject: bool
    """The object that was asked about."""


@dataclass(frozen=True, slots=True)
class Aliases:
    """All objects over the same bytes, the inspected one first, then the largest overlap."""

    rows: tuple[Alias, ...]
    looked_at: int
    """Objects of known libraries whose bytes were compared."""
    left_out: int
    """Aliases beyond the bound."""
    findings: tuple[Finding, ...]
    """Writes that another library's bookkeeping does not notice."""
