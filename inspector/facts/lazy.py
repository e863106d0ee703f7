"""A lazy vector: its data1 and data2, what is materialized, what caused it; and the contract check."""

# SPDX-License-Identifier: MIT
from dataclasses import dataclass
from typing import Literal

from inspector.facts.unknown import Address, ImmortalType, Unknown

State = Literal["lazy", "partially materialized", "owned", "pending", "view"]
"""See docs/reference/lazy.md; "pending": another thread is filling it now; "view": a plain input."""

Role = Literal["vector", "data1", "data2"]

INPUT_CHANGED = "input changed since"
INPUT_UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class LazyNode:
    """One object of the stack: a lazy vector, or its data1 or data2."""

    role: Role
    address: Address
    type_name: str
    references: int | ImmortalType | Unknown
    dtype: str
    """"" if it has none."""
    length: int | Unknown
    recipe: str
    """"abs", "map(sqrt)"; "" if it is not a lazy vector."""
    state: State
    blocks_done: int
    blocks: int
    """Number of blocks of 128 KB; 0 if it is not a lazy vector."""
    preview: tuple[str, ...]
    """First elements that exist already; inspecting computes none."""
    depth: int
    """0 the vector, 1 its data1 and data2, 2 the data1 of a lazy data1 ..."""

    def __str__(self) -> str:
        """In the form of R's `.Internal(inspect(x))`."""
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
    """An event of a lazy vector, and the call that caused it."""

    kind: str
    """"materialize", "freeze", "copy"."""
    by: str | Unknown
    """The function that was called: "np.sort", "memoryview"."""
    function: str | Unknown
    file: str | Unknown
    line: int | Unknown
    cell: int | Unknown
    """Number of the notebook cell that ran."""
    bytes: int
    ns: int


@dataclass(frozen=True, slots=True)
class Lazy:
    """The column `lazy`."""

    stack: tuple[LazyNode, ...]
    """The vector first; each vector is followed by its data1 and data2, one level deeper."""
    state: State
    value: Literal["lazy", "partial", "computed", "pending"]
    storage: Literal["none", "heap"]
    title: Literal["owned", "cow"]
    """"cow": a duplicate shares data2 until one of them is written."""
    logical_bytes: int
    owned_bytes: int
    """Allocated bytes of data2; 0 while lazy."""
    input: str | Unknown
    """INPUT_UNCHANGED or INPUT_CHANGED, for the part that was read; unknown if not all of it was compared."""
    written: bool
    """A consumer could write into data2: its values may no longer match the recipe."""
    exports: int
    events: tuple[LazyEvent, ...]
    """The last 16."""
    events_dropped: int

    def __str__(self) -> str:
        """One line per node."""
        return "\n".join(str(node) for node in self.stack)


@dataclass(frozen=True, slots=True)
class LazyClause:
    """One clause of the contract, and whether it holds."""

    name: str
    holds: bool | Unknown
    evidence: str


@dataclass(frozen=True, slots=True)
class LazyContract:
    """The result of `check_lazy` for a provider."""

    provider: str
    dtype: str
    length: int
    clauses: tuple[LazyClause, ...]

    @property
    def ok(self) -> bool:
        """Whether no clause is known to be broken."""
        return not self.broken

    @property
    def broken(self) -> tuple[LazyClause, ...]:
        """The clauses that do not hold."""
        return tuple(clause for clause in self.clauses if clause.holds is False)

    def __str__(self) -> str:
        """One line per clause, broken ones first."""
        order = sorted(self.clauses, key=lambda clause: clause.holds is not False)
        words = {True: "holds ", False: "BROKEN"}
        rows = [
            f"{'?     ' if isinstance(c.holds, Unknown) else words[c.holds]}  {c.name:<28}{c.evidence}"
            for c in order
        ]
        return "\n".join(
            [f"{self.provider}: {len(self.broken)} of {len(self.clauses)} clauses broken", *rows]
        )
