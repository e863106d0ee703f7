"""The bytes an object exposes: every protocol it supports, and the answer of each one that was called."""

# SPDX-License-Identifier: MIT
from inspector.facts.memory import Mapping, Range
from inspector.facts.record import dataclass
from inspector.facts.unknown import Address, Unknown

POINTS_TO = "points to"
"""Name of the fact that says where a pointer leads."""
CATEGORIES = "categories"
"""Name of the fact that says how many categories the codes of a column name."""
ONE_BLOCK = Unknown("it is not one strided block")


@dataclass(frozen=True, slots=True)
class Exposure:
    """What one protocol says about the bytes (PEP 3118, DLPack, Arrow C data interface)."""

    protocol: str
    """"buffer", "__array_interface__", "__array_struct__", "__cuda_array_interface__", "DLPack",
    "Arrow C data", "Arrow C stream", "struct fields" (the C struct of an exact type; nothing is called)."""
    address: Address
    shape: tuple[int, ...]
    strides_bytes: tuple[int, ...]
    itemsize_bytes: int
    format: str
    """As the protocol spells it: a PEP 3118 format, an array-interface typestr, a DLPack dtype."""
    flags: tuple[str, ...]
    readonly: bool
    exporter: str
    """Type name of the object that exports the bytes."""
    range: Range
    """All bytes that elements can occupy, negative strides included; empty if there are no elements."""
    mapping: Mapping | Unknown


@dataclass(frozen=True, slots=True)
class Spoken:
    """A protocol the object supports, found statically on its type or in its own attributes, and its answer
    if it was called."""

    protocol: str
    exposure: Exposure | Unknown


@dataclass(frozen=True, slots=True)
class Holder:
    """One step from a view to the owner of its bytes."""

    name: str
    """The user's name for the object, or its type."""
    type_name: str
    address: Address
    relation: str
    """How the previous object refers to it: "base", "obj", "_b_base_", "values"."""
    owns: bool | Unknown
    bytes: int | Unknown
    """Logical bytes of its own elements."""
    range: Range | Unknown
    references: int | Unknown
    """Its refcount without the tool's own references."""
    first: Address | Unknown = ONE_BLOCK
    """Address of the element with all indices 0. It, shape and strides are those of `shown_by`, if set."""
    shape: tuple[int, ...] = ()
    strides_bytes: tuple[int, ...] = ()
    itemsize_bytes: int = 0
    readonly: bool | Unknown = ONE_BLOCK
    shown_by: str = ""
    """The user's name for another object that shows its bytes, such as a Series; "" if none is known."""
    shown_by_type: str = ""
    """Type name of that object, with its module."""
    views: tuple[str, ...] = ()
    """The user's names of other arrays that have it as their base."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """The bytes of an object: where they are, who owns them, who borrowed them."""

    logical_bytes: int | Unknown
    """Bytes of all elements: the product of the shape times the itemsize."""
    range: Range | Unknown
    mapping: Mapping | Unknown
    owns: bool | Unknown
    holders: tuple[Holder, ...]
    """From the object's base to the owner of the bytes; empty if the object itself owns them."""
    readonly: bool | Unknown
    exports: int | Unknown
    """Buffers of this object that consumers hold now (PEP 3118 exports)."""
    spoken: tuple[Spoken, ...]
    facts: tuple[tuple[str, str], ...]
    """More facts, by the library's own names: ("PyArray_NDIM", "2"), ("allocator", "default_allocator")."""
    sharers: int | Unknown = Unknown("its library keeps no count")
    """Further objects over the very block that this one owns: tensors of one storage."""
    shared_with: str = ""
    """The user's name for one of them; "" if none is known."""
