"""What a container holds: its objects and their bytes, by a bounded look inside."""

# SPDX-License-Identifier: MIT
from inspector.facts.boxes import ContentBox
from inspector.facts.record import dataclass
from inspector.facts.unknown import Address


@dataclass(frozen=True, slots=True)
class Item:
    """One object that a container holds directly."""

    key: str
    """Its place: "[3]", "['k']", ".args[0]", of a closure the variable; "" where it has none."""
    what: str
    """"ndarray float64 (1000,)", "list (3 items)"."""
    bytes: int
    """Its bytes with those of all that is reached through it first; an object counts for one item only."""
    address: Address
    places: int
    """How many places of the container hold it."""
    name: str = ""
    """The user's name for it; "" if there is none."""
    arrays: int = 0
    """Of its bytes, how many arrays, tables and tensors show some; itself counts too."""


@dataclass(frozen=True, slots=True)
class CommonBase:
    """The object of which all arrays of a container are views, or which they are."""

    what: str
    """"ndarray float64 (1000,)"."""
    bytes: int
    address: Address
    views: int
    writable: bool
    """Whether all the views can be written."""
    name: str = ""
    """The user's name for it; "" if there is none."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The objects that a container reaches, each counted once, without the container itself.

    Modules, classes, functions and immortal objects are not counted: they belong to others too.
    """

    objects: int
    bytes: int
    """Their own bytes, with those of arrays."""
    arrays: int
    """How many of them expose bytes: arrays, tables, tensors."""
    arrays_bytes: int
    complete: bool
    """Whether all objects were counted; False if the look ended at its bound."""
    items: tuple[Item, ...] = ()
    """Those with most bytes, at most 8; of an exact dict, list or tuple, and of what callables keep."""
    boxes: tuple[ContentBox, ...] = ()
    """Itself and what its places refer to; only of an exact dict, list or tuple of at most 8 places."""
    opaque: tuple[str, ...] = ()
    """Names of types, made in C by others, whose objects may keep more bytes than they tell."""
    behind_bytes: int = 0
    """Of what its arrays keep and do not show: the rest of a view's base, a storage, a table's index."""

    left_out: int = 0
    """How many it holds directly besides `items`, apart from numbers and None."""
    base: tuple[CommonBase, ...] = ()
    """Where the container holds several arrays, each a view of one: that one. At most one."""

    def __repr__(self) -> str:
        least = "" if self.complete else "at least "
        return f"<Contents: {least}{self.objects:,} objects, {self.bytes:,} bytes>"
