"""The lazy vectors (ALTREP) of an R program by statement: made, read, materialized, by which functions."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from inspector.facts.record import dataclass


@dataclass(frozen=True, slots=True)
class LazyVector:
    """One lazy vector."""

    name: str
    """As R's user reaches it: "x", "d$number"; "" for none."""
    class_name: str
    package: str
    type: str
    length: int
    """-1: nobody asked for it."""
    bytes: int
    """Of the elements, once they are made."""


@dataclass(frozen=True, slots=True)
class LazyRead:
    """Elements of a vector were read, and it stayed lazy."""

    vector: LazyVector
    elements: int
    """Read one by one (Elt)."""
    regions: int
    """Read as blocks into the caller's memory (Get_region)."""
    strings: int
    """Of a deferred string: made by being read. R keeps them, and a pointer for each element."""


@dataclass(frozen=True, slots=True)
class LazyMade:
    """A vector was materialized: all its elements were asked for by a pointer, or copied as one of R's."""

    vector: LazyVector
    ns: int
    """How long its Dataptr method took; 0: not measured."""
    to_write: bool
    """The pointer was asked for to write through it."""
    copied: bool
    """The vector itself stayed lazy: an ordinary one was made of it, as an assignment to an item does."""
    by: str
    """The R function that the user's code called; "" where no call was seen."""
    functions: tuple[str, ...]
    """R's functions, outermost first, then C's down to the pointer."""


@dataclass(frozen=True, slots=True)
class LazyStatement:
    """A statement at top level."""

    line: int
    """0: the program is no file."""
    text: str
    made: tuple[LazyVector, ...]
    read: tuple[LazyRead, ...]
    materialized: tuple[LazyMade, ...]


@dataclass(frozen=True, slots=True)
class LazyTrace:
    """All statements that made, read or materialized a lazy vector."""

    script: str
    statements: tuple[LazyStatement, ...]
    small: int
    """Vectors without a name, below 10 kB: R makes many of them inside."""
    left_out: int
    """Vectors that found no room."""
