"""References that native code leaked, over-released or kept: the evidence and the verdicts."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, Literal

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
OUTSIDE: Final = "bytes leaked outside objects"
DEADLY: Final = ("over-released", "borrowed reference stolen")
"""Faults that sooner or later crash the process."""
Role = Literal[
    "new",
    "borrowed",
    "stolen",
    "stolen on failure",
    "not stolen",
    "kept",
    "released",
    "stored",
    "replaced",
    "died",
    "unbalanced",
    "returned",
    "settled",
    "outlived",
    "freed",
    "viewed",
    "allocated",
    "caller",
]
Relation = Literal["itself", "dtype", "base", "type"]


@dataclass(frozen=True, slots=True)
class Touch:
    """One C-API call on the object, or (role "unbalanced") a call from Python."""

    role: Role
    function: str
    """The C-API function; "" for a call from Python."""
    parameter: str
    """Name of the parameter that received the object; "" if it was the result."""
    method: str
    """The native function that Python called: "heldmod.make"; "" if unknown."""
    symbol: str | Unknown
    """The C function that made the C-API call."""
    source: str | Unknown
    """Source line of that C function: "heldmod.c:14"."""
    site: Site
    """The Python line."""
    change: int
    """Refcount after the call minus before; role "unbalanced" only."""
    path: str = ""
    """The file of `source`, if it is on this machine and not younger than the library."""
    stage: int = 0
    """Which stage of the code (of a test suite: which test) made the call; 0: it has no stages."""
    count: int = 0
    """Refcount as the C-API call was noted, of a result with the new reference, at most 127; 0: not noted."""

    @property
    def is_of_import(self) -> bool:
        """Whether the body of an installed or standard module, or an extension's import, made the call."""
        file = "" if isinstance(self.site.file, Unknown) else self.site.file
        is_installed = "-packages/" in file or "/lib/python3" in file
        is_body = is_installed and self.site.function == "<module>"
        return is_body or file.startswith("<frozen importlib")


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of native source that a verdict is about."""

    file: str
    """Without its folders: "heldmod.c"."""
    number: int
    """0 for a line that is missing."""
    text: str
    note: str
    """What it does to the object, in words."""
    change: Literal["", "missing", "surplus"] = ""


@dataclass(frozen=True, slots=True)
class Suspect:
    """An object whose refcount needs an explanation, and the owners that a search of memory found."""

    shown: str
    """Its type, and its value if that is short."""
    type_name: str
    address: Address
    relation: Relation
    """How it relates to the argument of the unbalanced call."""
    fresh: bool
    """A call that the ledger recorded created it."""
    died: bool
    """It was freed; a placeholder at its address keeps the memory from reuse."""
    references: int
    """Refcount at the end, without the tool's own; for a dead object minus the releases since its death."""
    baseline: int
    """Refcount when it was first seen."""
    reported: int
    """References that tp_traverse of the gc's objects and running functions' variables show: counted without
    the search that found the owners."""
    certain_owners: int
    possible_owners: int
    """Pointers in C memory (static data, heap blocks); some may be borrowed."""
    borrowing: int
    """Pointers on C stacks and in memory of unknown use."""
    owners: tuple[str, ...]
    """The owners in words, certain ones first."""
    native_holder: str
    """The first possible owner in C memory; "" if there is none."""
    balance: int
    """References that calls from Python added (or removed), without those in their results."""
    unbalanced_calls: int
    falls_in_a_row: int
    blurred: bool
    """An object that may have held it died in the same call: a falling balance is no proof."""
    touches: tuple[Touch, ...]
    disguised: int = 0
    """Words that point into it, or may be its address with a tag, or inverted: each may be an owner's."""


@dataclass(frozen=True, slots=True)
class Fault:
    """An error that a call shows as it returns: all but the last kind are proof."""

    kind: Literal["NULL without an exception", "result with an exception set", "C-API call without the GIL",
                  "over-released", "borrowed reference stolen",
                  "returned without a reference"]  # fmt: skip
    touch: Touch
    shown: str


@dataclass(frozen=True, slots=True)
class Dangling:
    """A live view of memory that was freed."""

    shown: str
    """Type and shape: "memoryview of 64 B"."""
    memory: Range
    kept: bool
    """The freed block is kept from reuse. If False, its address may belong to another block by now."""
    freed: Touch
    """The call that freed it."""
    made: Touch | Unknown
    """The call that made the view, if a watched module made it."""


@dataclass(frozen=True, slots=True)
class Drift:
    """An object, or new objects of one type, whose unexplained references all runs changed the same way."""

    shown: str
    type_name: str
    fresh: bool
    """True for new objects left by each run; False for one object that existed before."""
    changes: tuple[int, ...]
    """One number per run: objects left over, or references added (removed) that no gc object holds."""
    objects: int
    references: int
    """Refcount of the object, or of one of several."""
    searched: bool
    """False: it has too many references to search its owners."""
    certain_owners: int
    possible_owners: int
    borrowing: int
    owners: tuple[str, ...]
    heap_type: bool = False
    """It is a heap type: each instance holds a reference to it."""
    kept: bool = False
    """Pointers in C memory explain all references: each run left more that native code keeps."""
    charged: tuple[Touch, ...] = ()
    """The call that changed its count by as much in one further run; () where none is known, or several."""


@dataclass(frozen=True, slots=True)
class RawMemory:
    """Raw memory blocks that a module allocated at one place and did not free; one number per run."""

    module: str
    """File that allocated them: "heldmod.so"."""
    blocks: tuple[int, ...]
    bytes: tuple[int, ...]
    lost: tuple[int, ...]
    """How many of the blocks nothing in memory points to, or only other lost blocks."""
    doubts: tuple[str, ...]
    """Other explanations of the lost blocks."""
    holder: str
    """What points to one of the blocks that are not lost; "" if nothing does."""
    asked: tuple[Touch, ...]
    """The call that allocated them, then the C functions that led to it, the innermost first."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One fault of native code, with the number of objects that show it."""

    kind: Kind
    object: str
    """Type and value of the object, or of the first of several."""
    certain: bool
    """False: the evidence allows another explanation; `reason` names it."""
    objects: int
    references: int
    """References leaked or over-released, over all objects."""
    conversion: Touch | Unknown
    """The call that created or stole the reference."""
    stack: tuple[Touch, ...]
    """The calls on the object, in order."""
    method: str
    rule: str
    """The C-API rule that was broken."""
    cure: str
    reason: str
    """The evidence, in a sentence."""
    owners: tuple[str, ...] = ()
    said: str = ""
    """The verdict as a sentence, code between backticks."""
    lines: tuple[SourceLine, ...] = ()
    """The lines of native code it is about, in the order they ran; () where their text is not at hand."""

    @property
    def stage(self) -> int:
        """The stage in which it happened; 0: none, or unknown."""
        touches = (self.conversion, *reversed(self.stack))
        return next((one.stage for one in touches if isinstance(one, Touch) and one.stage), 0)

    @property
    def object_type(self) -> str:
        """The object's type, without its value."""
        return self.object.partition(" ")[0].removesuffix("()")

    @property
    def is_of_import(self) -> bool:
        """Whether it is only possible, and from the import of an installed module, which runs once."""
        return not self.certain and isinstance(self.conversion, Touch) and self.conversion.is_of_import


@dataclass(frozen=True, slots=True)
class FurtherCalls:
    """What many further calls left, in each half of them: 0 and () where nothing grew with the calls."""

    calls: int
    blocks: int
    """Blocks of the object allocator."""
    bytes: int
    """Bytes of malloc."""
    references: tuple[tuple[str, int], ...]
    """(type, references that one object of it has more)."""


@dataclass(frozen=True, slots=True)
class KeptByC:
    """References that native code keeps in its own memory: not a fault."""

    object: str
    objects: int
    holder: str
    method: str
    growth: tuple[int, ...] = ()
    """Objects that each of several runs left more; () if it does not grow."""


@dataclass(frozen=True, slots=True)
class WatchedModule:
    """What was watched of a module that was asked for, or of all: without calls nothing is known of it."""

    module: str
    """Its name or pattern; "" for all extension modules."""
    functions: int
    """Functions and type slots hooked."""
    slots: int
    """Import slots of the C API hooked."""
    calls: int
    """Calls of these functions."""
    uses: int
    """Calls of the C API through these slots, of functions that move references."""
    why: str
    """Why nothing was watched; "" if something was."""
    made: int = 0
    """Functions and types that it made while the code ran, outside imports: calls of these are not seen."""
    unhooked: tuple[str, ...] = ()
    """What Python can call of it without a hook, as the block ended; sorted."""

    @property
    def is_silent(self) -> bool:
        """Whether no call was seen; an import alone uses slots."""
        return not (self.calls if self.functions else self.uses)

    @property
    def unseen(self) -> int:
        """How many of its types and functions were called, or may have been, without being watched."""
        return max(self.made, len(self.unhooked))

    def joined(self, other: "WatchedModule") -> "WatchedModule":
        """The block of both that saw more calls, with what either did not see."""
        more = min(self, other, key=lambda one: (bool(one.why), -one.calls - one.uses))
        unhooked = tuple(sorted({*self.unhooked, *other.unhooked}))
        return replace(more, made=max(self.made, other.made), unhooked=unhooked)


@dataclass(frozen=True, slots=True)
class Leaks:
    """The column `leaks`: code that ran while the ledger was open."""

    verdicts: tuple[Verdict, ...]
    kept: tuple[KeptByC, ...]
    suspects: int
    """Objects whose owners were searched."""
    left_out: int
    """Suspicious objects beyond the bound, not searched."""
    not_noted: int
    """Events dropped because the ledger was full."""
    given_back: int
    """References that the tool added to over-released objects, so that the process survives."""
    runs: int
    """How often the code ran with the ledger open; 1 without the repeat rule."""
    wall_ns: int
    scan_ns: int
    scanned_bytes: int
    hooked: int
    """Hooked import slots of the chosen modules."""
    unlike: int = 0
    """Of `left_out`, objects from places of which no object was searched: nothing is known about them."""
    raw_memory: tuple[RawMemory, ...] = ()
    """Raw memory blocks that are lost, or (with several runs) that every run left more of."""
    notes: tuple[str, ...] = ()
    watched: tuple[WatchedModule, ...] = ()
    """One for each module asked for."""

    def __iter__(self) -> Iterator[Verdict]:
        """The verdicts, certain ones first."""
        return iter(self.verdicts)

    def many(self, verdict: Verdict) -> str:
        """How many objects show a verdict: "" (one), " ×7", " ×16 or more" if some were not searched."""
        more = " or more" if self.left_out else ""
        return f" ×{verdict.objects}{more}" if verdict.objects > 1 else ""
