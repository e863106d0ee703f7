"""Calls of a compiled graph: its nodes in order, and what its inputs and outputs cost at the door."""

# SPDX-License-Identifier: MIT
from typing import Literal

from inspector.facts.record import dataclass
from inspector.facts.unknown import Unknown

Made = Literal["new", "reused", "copied", "view", "in place", "no array"]


@dataclass(frozen=True, slots=True)
class Breach:
    """What an op did to an input against its own word, or against the rules of references."""

    did: Literal["writes", "leaked", "over-released", "reads past", "reads before"]
    """writes: no destroy_map names it; leaked, over-released: counted in C code, where it makes its outputs
    anew; reads past, before: in a copy of the process, where the page beside the input cannot be read."""
    of: str
    """The input as in `takes`; "x's dtype"."""
    refs: int
    """References more (or, below 0, fewer) than there are owners; 0 for a write or a read."""
    place: str
    """The line of the op's own template that does it, "op.py:19"; "" if none is found."""
    certain: bool
    """Whether no other Python thread could have changed the count."""


@dataclass(frozen=True, slots=True)
class NodeRun:
    """One node in one call; of several calls the last, with the time of all."""

    number: int
    op: str
    by: str
    """"C", "Python", "one numba function"."""
    takes: tuple[str, ...]
    """"z", "3": an input of the graph by name, or the number of the node that made it."""
    shape: str
    """Of its first output that is an array: "float64 (500, 500)"; "" if it was not watched."""
    made: Made | Unknown
    of: str
    """What a view shows and what was written over, as in `takes`; else ""."""
    declared: bool
    """Whether the op's view_map and destroy_map say so too."""
    bytes: int | Unknown
    ns: int | Unknown
    source: str = ""
    """Where its op's code begins in the generated C: ".../mod.cpp:356"; "" if Python ran it."""
    breaches: tuple[Breach, ...] = ()


@dataclass(frozen=True, slots=True)
class Door:
    """An input, output or shared variable of a call."""

    side: Literal["in", "out", "shared"]
    name: str
    what: str
    """"float64 (500, 500), F order"."""
    how: str
    """"borrowed", "copied", "converted", "updated in place"."""
    bytes: int
    """Copied; 0 if none were."""
    do: str
    """What to write to avoid it; ""."""


@dataclass(frozen=True, slots=True)
class GraphCall:
    """Calls of one function from one line."""

    name: str
    file: str
    line: int
    linker: str
    calls: int
    ns: int
    nodes: tuple[NodeRun, ...]
    doors: tuple[Door, ...]
    unwatched: str
    """What was not watched, and why; ""."""

    def bytes_of(self, *made: str) -> int:
        """Bytes of the nodes that made them so, in one call."""
        rows = [row.bytes for row in self.nodes if row.made in made]
        return sum(size for size in rows if not isinstance(size, Unknown))

    @property
    def copied_bytes(self) -> int:
        """By nodes and at the door, in one call."""
        return self.bytes_of("copied") + sum(door.bytes for door in self.doors)


@dataclass(frozen=True, slots=True)
class Nodes:
    """The calls of compiled graphs in a trace."""

    calls: tuple[GraphCall, ...]
    left_out: int = 0

    def __repr__(self) -> str:
        return f"<Nodes: {len(self.calls)} functions>"
