"""A namespace as a table: each name, its object, and which names share memory."""

# SPDX-License-Identifier: MIT
from dataclasses import dataclass

from inspector.facts.answers import Answer
from inspector.facts.materialization import NO_BYTES
from inspector.facts.memory import Range
from inspector.facts.unknown import Address, ImmortalType, Unknown

NOT_ASKED = Unknown("not asked")


@dataclass(frozen=True, slots=True)
class Row:
    """One name."""

    name: str
    type_name: str
    """Short: "ndarray f8", "dict"."""
    address: Address
    bytes: int | Unknown
    """Bytes of its elements, or of all objects and arrays that it holds; others may hold them too."""
    references: int | ImmortalType | Unknown
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
class Beyond:
    """Bytes that something keeps although no name shows them; without those of the rows before it."""

    place: str
    """What a user could type: "Out[4]", "sys.last_value"; the name of a local variable."""
    type_name: str
    bytes: int
    by: str
    """"history", "traceback", "module" or "base"."""
    why: str
    """"a local of f"."""
    do: str
    """The code that lets it go; "" if there is none."""
    also: tuple[str, ...] = ()
    """What keeps the same bytes too, of history: names that do not show them, "the last traceback"."""


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
    kept: tuple[Beyond, ...] = ()
    """What history, the last traceback, modules and views keep beyond the names, most bytes first."""
    kept_bytes: int = 0
    ram_bytes: int | Unknown = NOT_ASKED
    """Of `total_bytes`, those in memory now."""
    kept_ram_bytes: int | Unknown = NOT_ASKED
    rss_bytes: int | Unknown = NOT_ASKED
    """Resident set of the process (VmRSS, proc(5)); of the rest nothing was looked at."""
    complete: bool = True
    """Whether all objects were counted; False if the walk ended at its bound."""
    answers: tuple[Answer, ...] = ()

    def __repr__(self) -> str:
        return f"<Namespace: {len(self.rows) + self.left_out:,} names, {self.total_bytes:,} bytes>"
