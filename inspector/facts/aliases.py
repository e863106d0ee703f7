"""All objects that share one range of bytes, of any library."""

# SPDX-License-Identifier: MIT
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
    """Address of the object itself, not of its bytes."""
    range: Range
    """From its lowest byte to its highest, over all its blocks."""
    common_bytes: int
    """Address space it shares with the inspected object."""
    state: str
    """One of facts.materialization.STATES; "?" where it is unknown."""
    writable: bool | Unknown
    subject: bool
    """Whether this is the inspected object."""


@dataclass(frozen=True, slots=True)
class Aliases:
    """The column `aliases`, by address intervals: the inspected object first, then the largest overlap."""

    rows: tuple[Alias, ...]
    looked_at: int
    """How many objects of known libraries were compared."""
    left_out: int
    """Aliases not listed because of the bound."""
    findings: tuple[Finding, ...]
    """Writes that another library's bookkeeping would miss."""
