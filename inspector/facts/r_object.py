"""An object of R, as its own memory shows it: nothing was converted, nothing materialized."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import Literal

from inspector.facts.record import dataclass
from inspector.facts.unknown import Address, Unknown

Made = Literal["all", "part", "none"]


@dataclass(frozen=True, slots=True)
class LazyState:
    """What an ALTREP stands for, and how much of it is in memory."""

    class_name: str
    """As the class registered itself: "compact_intseq"."""
    package: str
    stands_for: str
    """In words: "compact sequence 1 : 1,000,000"; "" for a class that is not known."""
    made: Made | Unknown
    made_elements: int | Unknown
    class_bytes: int
    """Of the table of methods, which all vectors of the class share."""
    first_slot: str
    """data1, in the layout of its class."""
    second_slot: str
    """data2."""


@dataclass(frozen=True, slots=True)
class RObject:
    """One object of R."""

    type: str
    """As `typeof` says it: "integer", "list", "closure"."""
    length: int | Unknown
    """Of a vector; unknown for other objects."""
    address: Address
    bytes: int
    """Header and elements, as R's allocator rounds them; of an ALTREP with both data slots."""
    deep_bytes: int | Unknown
    """With all that its elements and attributes refer to, each once; an ALTREP as it is."""
    elements_bytes: int
    """Of the elements of the whole vector, made or not."""
    references: int
    """R's REF without the one of the call."""
    not_mutable: bool
    """REF has its highest value: R copies before each write."""
    attributes: tuple[str, ...]
    values: tuple[str, ...]
    """The first elements that are in memory: levels of a factor, dates; of a list its items' types."""
    lazy: LazyState | Unknown
    """Unknown: the object is no ALTREP."""
    held_by: tuple[str, ...]
    """Names in R's environments: "x", "l$a", "v in f()"."""
    looked_in: int
    """Environments that were looked in."""
    shared_with: tuple[str, ...]
    """Python objects over the same bytes."""
    classes: tuple[str, ...] = ()
    """The attribute `class`."""


@dataclass(frozen=True, slots=True)
class RNamed:
    """A name of R and its object."""

    name: str
    object: RObject


@dataclass(frozen=True, slots=True)
class RMemory:
    """What the names of R's global environment keep, the largest first."""

    names: tuple[RNamed, ...]
    names_left_out: int
    total_bytes: int
    """Of all names together; what two of them share is counted once."""
    resident_bytes: int | Unknown
    """Of the process, R and Python together."""
