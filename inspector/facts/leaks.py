"""References that native code lost, took or kept: what was found, and the verdicts drawn from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from inspector.facts.conversion import Site
from inspector.facts.memory import Range
from inspector.facts.record import dataclass
from inspector.facts.unknown import Address, Unknown

Kind = Literal[
    "leaked",
    "over-released",
    "borrowed reference stolen",
    "buffer not released",
    "capsule leaked",
    "dangling view",
    "bytes leaked outside objects",
    "NULL without an exception",
    "result with an exception set",
    "C-API call without the GIL",
    "crash",
]
Role = Literal[
    "new",
    "borrowed",
    "stolen",
    "kept",
    "released",
    "stored",
    "replaced",
    "died",
    "unbalanced",
    "returned",
    "freed",
    "viewed",
    "allocated",
    "caller",
]
Relation = Literal["itself", "dtype", "base", "type"]


@dataclass(frozen=True, slots=True)
class Touch:
    """One C-API call that concerned the object, or (role "unbalanced") a call from Python."""

    role: Role
    function: str
    """The C-API function; "" for a call from Python."""
    parameter: str
    """Name of the parameter that the object was; "" where it was the result."""
    method: str
    """The function that Python had called: "heldmod.make"; "" where none is known."""
    symbol: str | Unknown
    """The C function that made the call."""
    source: str | Unknown
    """Its line: "heldmod.c:14"."""
    site: Site
    """The line of Python."""
    change: int
    """References more (or fewer) after the call than before; role "unbalanced" only."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """An object whose count needs an explanation, and the owners a search of memory found."""

    shown: str
    """Type and, where it is short, value."""
    type_name: str
    address: Address
    relation: Relation
    """What it is to the argument of the call that left it unbalanced."""
    fresh: bool
    """Made while the ledger was open, by a call it saw."""
    died: bool
    """It was freed; what stands at its address now keeps the memory apart."""
    references: int
    """Its count at the end, without the tool's own; of a dead object: minus what was taken since."""
    baseline: int
    """Its count when it was first seen."""
    certain_owners: int
    possible_owners: int
    """Pointers in C memory: statics, blocks; some may only borrow."""
    borrowing: int
    """Pointers on C stacks, and in memory whose use is not known."""
    owners: tuple[str, ...]
    """Who they are, certain ones first."""
    native_holder: str
    """The first of the possible owners in C memory; "" where there is none."""
    balance: int
    """References that calls from Python left more (or fewer), those in their results taken out."""
    unbalanced_calls: int
    falls_in_a_row: int
    blurred: bool
    """What may have held it died in the same call: a falling balance proves nothing."""
    touches: tuple[Touch, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong whatever the counts say."""

    kind: Literal["NULL without an exception", "result with an exception set", "C-API call without the GIL",
                  "over-released", "borrowed reference stolen"]  # fmt: skip
    touch: Touch
    shown: str


@dataclass(frozen=True, slots=True)
class Dangling:
    """A view that lives and shows memory which was freed."""

    shown: str
    """Type and shape: "memoryview of 64 B"."""
    memory: Range
    kept: bool
    """The freed block was kept apart: nobody has its address. Else it may be another's memory by now."""
    freed: Touch
    """The call that freed it."""
    made: Touch | Unknown
    """The call that made the view, where one of a watched module did."""


@dataclass(frozen=True, slots=True)
class Drift:
    """An object, or new objects of one type, whose unexplained references every run moved the same way."""

    shown: str
    type_name: str
    fresh: bool
    """New objects, some after each run; else one that was there before."""
    changes: tuple[int, ...]
    """A number a run: objects left over, or references more (fewer) that nothing the gc sees holds."""
    objects: int
    references: int
    """Count of the object, or of one of several."""
    searched: bool
    """False: so many hold it that its owners were not searched."""
    certain_owners: int
    possible_owners: int
    borrowing: int
    owners: tuple[str, ...]
    heap_type: bool = False
    """A class that each of its instances holds a reference to."""


@dataclass(frozen=True, slots=True)
class RawMemory:
    """Blocks of memory, no objects, that a module got at one place and did not free; a number a run."""

    module: str
    """File that asked for them: "heldmod.so"."""
    blocks: tuple[int, ...]
    bytes: tuple[int, ...]
    lost: tuple[int, ...]
    """How many of the blocks nothing in memory points at, or lost blocks alone."""
    doubts: tuple[str, ...]
    """What else could be, where something is lost."""
    holder: str
    """What points at one of the others; "" where nothing does."""
    asked: tuple[Touch, ...]
    """The call that gave them, and the C functions that led there, the innermost first."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One fault of native code, with as many objects as show it."""

    kind: Kind
    object: str
    """The object, or the first of several: its type and value."""
    certain: bool
    """False: the evidence leaves another explanation; `reason` says which."""
    objects: int
    references: int
    """References lost or taken, all objects together."""
    conversion: Touch | Unknown
    """The call that created or took the reference."""
    stack: tuple[Touch, ...]
    """What happened to the object, in order."""
    method: str
    rule: str
    """The rule of C that was broken."""
    cure: str
    reason: str
    """The evidence, in a sentence."""
    owners: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeptByC:
    """References that native code keeps on purpose, as far as memory tells: no fault."""

    object: str
    objects: int
    holder: str
    method: str


@dataclass(frozen=True, slots=True)
class Leaks:
    """The faults of native code in a block: verdicts, what was kept on purpose, what was searched."""

    verdicts: tuple[Verdict, ...]
    kept: tuple[KeptByC, ...]
    suspects: int
    """Objects whose owners were searched."""
    left_out: int
    """Suspicious objects beyond the bound, not searched."""
    not_noted: int
    """Events for which the ledger had no room."""
    given_back: int
    """References added to objects that had lost them, so that the process lives."""
    runs: int
    """How often the code ran with the ledger open; 1 without the repeat rule."""
    wall_ns: int
    scan_ns: int
    scanned_bytes: int
    hooked: int
    """Import slots of the chosen modules."""
    unlike: int = 0
    """Of those left out, objects of origins of which none was searched: nothing is known of them."""
    raw_memory: tuple[RawMemory, ...] = ()
    """Blocks outside objects that are lost, or (several runs) that every run left more of."""
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Verdict]:
        """The verdicts, certain ones first."""
        return iter(self.verdicts)

    def many(self, one: Verdict) -> str:
        """How many objects a verdict is of: "" (one), " ×7", " ×16 or more" where some were not searched."""
        more = " or more" if self.left_out else ""
        return f" ×{one.objects}{more}" if one.objects > 1 else ""
