"""Who holds an object and what it holds, a step at a time: nodes by address, edges by name."""

from __future__ import annotations

from inspector.facts.record import dataclass
from inspector.facts.unknown import Address


@dataclass(frozen=True, slots=True)
class Edge:
    """One reference, or several of one holder, and the object at its other end."""

    key: str
    """How the holder has it: "x", ".rows", "[0]", "" where that is not known."""
    kind: str
    """One of facts.refs.OWNER_KINDS; for what is held "item", "attribute", "type" or ""."""
    label: str
    """The object at the other end, as a user would name it."""
    type_name: str
    """"" where it is no Python object."""
    address: Address
    references: int
    certain: bool
    root: bool
    """Nothing is asked behind it: a namespace, a frame, memory of C."""


@dataclass(frozen=True, slots=True)
class Step:
    """The neighbours of one object in one direction."""

    edges: tuple[Edge, ...]
    left_out: int
    says: str
    """What was searched, or why there is nothing."""


@dataclass(frozen=True, slots=True)
class Graph:
    """An object, the path to it from a root, and its neighbours both ways."""

    type_name: str
    address: Address
    path: tuple[str, ...]
    """Steps from a root to the object, the root first; empty where no path was found."""
    held_by: Step
    holds: Step
