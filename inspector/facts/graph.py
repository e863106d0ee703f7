"""The references to an object and from it, one step at a time: nodes by address, edges by name."""

# SPDX-License-Identifier: MIT
from inspector.facts.record import dataclass
from inspector.facts.unknown import Address


@dataclass(frozen=True, slots=True)
class Edge:
    """One reference, or several from one holder, and the object at its other end."""

    key: str
    """Where the holder stores it: "x", ".rows", "[0]"; "" if unknown."""
    kind: str
    """For holders one of facts.refs.OWNER_KINDS; for held objects "item", "attribute", "type" or
    "kept", which its library's adapter tells and its type does not."""
    label: str
    """The object at the other end, by the name a user knows it by."""
    type_name: str
    """"" if it is not a Python object."""
    address: Address
    references: int
    certain: bool
    root: bool
    """The search ends there: a namespace, a frame, C memory."""


@dataclass(frozen=True, slots=True)
class Step:
    """The neighbours of one object in one direction."""

    edges: tuple[Edge, ...]
    left_out: int
    says: str
    """What was searched, or why there are no edges."""


@dataclass(frozen=True, slots=True)
class Graph:
    """The column `graph`: an object, the path from a root to it, and its neighbours in both directions."""

    type_name: str
    address: Address
    path: tuple[str, ...]
    """Steps from a root to the object, the root first; empty if no path was found."""
    held_by: Step
    holds: Step
