"""A lazy vector seen from outside: data1, data2, what is there, who materialized it; and a contract check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from inspector.facts.unknown import Address, ImmortalType, Unknown

State = Literal["lazy", "partially materialized", "owned", "pending", "view"]
"""Defined in docs/reference/lazy.md. "pending": another thread fills it now; "view": a plain input."""

Role = Literal["vector", "data1", "data2"]

INPUT_CHANGED = "input changed since"
INPUT_UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class LazyNode:
    """One object of the stack: a lazy vector, or what lies in its data1 or data2."""

    role: Role
    address: Address
    type_name: str
    references: int | ImmortalType | Unknown
    dtype: str
    """"" where it has none."""
    length: int | Unknown
    recipe: str
    """"abs", "map(sqrt)"; "" for anything but a lazy vector."""
    state: State
    blocks_done: int
    blocks: int
    """Of 128 KB; 0 for anything but a lazy vector."""
    preview: tuple[str, ...]
    """First elements that exist already; none is computed for a look."""
    depth: int
    """0 the vector, 1 its data1 and data2, 2 the data1 of a lazy data1 ..."""

    def __str__(self) -> str:
        """As R's `.Internal(inspect(x))` prints it."""
        shown = f"@{self.address:x} {self.type_name} [REF({self.references})] "
        if self.recipe:
            partly = f"{self.blocks_done}/{self.blocks} blocks " if self.blocks_done else ""
            word = "materialized " if self.state == "owned" else partly
            shown += f"{word}lazy({self.recipe}) (len={self.length})"
        else:
            dots = ",..." if type(self.length) is int and self.length > len(self.preview) else ""
            values = f" {','.join(self.preview)}{dots}" if self.preview else ""
            shown += f"{self.dtype} (len={self.length})".strip() + values
        return "  " * self.depth + shown


@dataclass(frozen=True, slots=True)
class LazyEvent:
    """Something that happened to a lazy vector, and who made it happen."""

    kind: str
    """"materialize", "freeze", "copy"."""
    by: str | Unknown
    """What was called: "np.sort", "memoryview"."""
    function: str | Unknown
    file: str | Unknown
    line: int | Unknown
    cell: int | Unknown
    """Number of the notebook cell that ran."""
    bytes: int
    ns: int


@dataclass(frozen=True, slots=True)
class Lazy:
    """A lazy vector: its state, its input, what was computed, its last events."""

    stack: tuple[LazyNode, ...]
    """The vector first; each followed by what lies in its data1 and data2, one deeper."""
    state: State
    value: Literal["lazy", "partial", "computed", "pending"]
    storage: Literal["none", "heap"]
    title: Literal["owned", "cow"]
    """"cow": data2 is shared with a duplicate until one of them is written."""
    logical_bytes: int
    owned_bytes: int
    """Of data2, allocated; 0 while lazy."""
    input: str | Unknown
    """"unchanged" or "input changed since", of what was read; unknown where not all of it was compared."""
    written: bool
    """A consumer could write into data2: the recipe may no longer say what is there."""
    exports: int
    events: tuple[LazyEvent, ...]
    """The last 16."""
    events_dropped: int

    def __str__(self) -> str:
        """The seed's lines."""
        return "\n".join(str(node) for node in self.stack)


@dataclass(frozen=True, slots=True)
class LazyClause:
    """One promise of the contract, and whether it was kept."""

    name: str
    holds: bool | Unknown
    evidence: str


@dataclass(frozen=True, slots=True)
class LazyContract:
    """What `check_lazy` found out about a provider."""

    provider: str
    dtype: str
    length: int
    clauses: tuple[LazyClause, ...]

    @property
    def ok(self) -> bool:
        """No clause is known to be broken."""
        return not self.broken

    @property
    def broken(self) -> tuple[LazyClause, ...]:
        """The clauses that do not hold."""
        return tuple(clause for clause in self.clauses if clause.holds is False)

    def __str__(self) -> str:
        """One line a clause; what is broken first."""
        order = sorted(self.clauses, key=lambda clause: clause.holds is not False)
        words = {True: "holds ", False: "BROKEN"}
        rows = [
            f"{'?     ' if isinstance(c.holds, Unknown) else words[c.holds]}  {c.name:<28}{c.evidence}"
            for c in order
        ]
        return "\n".join(
            [f"{self.provider}: {len(self.broken)} of {len(self.clauses)} clauses broken", *rows]
        )
