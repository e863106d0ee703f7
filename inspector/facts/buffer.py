"""The bytes an object lays open: every protocol it speaks, and what each one that was asked says."""

from __future__ import annotations

from inspector.facts.memory import Mapping, Range
from inspector.facts.record import dataclass
from inspector.facts.unknown import Address, Unknown


@dataclass(frozen=True, slots=True)
class Exposure:
    """What one protocol says about the bytes (PEP 3118, DLPack, Arrow C data interface)."""

    protocol: str
    """"buffer", "__array_interface__", "__array_struct__", "__cuda_array_interface__", "DLPack",
    "Arrow C data", "Arrow C stream", "struct fields" (an exact type read by its C struct, nothing called)."""
    address: Address
    shape: tuple[int, ...]
    strides_bytes: tuple[int, ...]
    itemsize_bytes: int
    format: str
    """As the protocol spells it: a PEP 3118 format, an array-interface typestr, a DLPack dtype."""
    flags: tuple[str, ...]
    readonly: bool
    exporter: str
    """Type name of the object that answered."""
    range: Range
    """All bytes an element can lie in, negative strides included; empty where size is 0."""
    mapping: Mapping | Unknown


@dataclass(frozen=True, slots=True)
class Spoken:
    """A protocol the object speaks, found statically on its type or among its own attributes, and the answer
    if it was asked."""

    protocol: str
    exposure: Exposure | Unknown


@dataclass(frozen=True, slots=True)
class Holder:
    """One step from a view to the owner of its bytes."""

    name: str
    """The user's name for it, or its type."""
    type_name: str
    address: Address
    relation: str
    """How the step before refers to it: "base", "obj", "_b_base_", "values"."""
    owns: bool | Unknown
    bytes: int | Unknown
    """Logical bytes of its own elements."""
    range: Range | Unknown
    references: int | Unknown
    """The true count: without the tool's own."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """The bytes of an object: where they are, who owns them, who borrowed them."""

    logical_bytes: int | Unknown
    """Bytes of all elements: product of shape times itemsize."""
    range: Range | Unknown
    mapping: Mapping | Unknown
    owns: bool | Unknown
    holders: tuple[Holder, ...]
    """From the object's base to the owner of the bytes; empty where the object owns them."""
    readonly: bool | Unknown
    exports: int | Unknown
    """Buffers that consumers hold from this object now."""
    spoken: tuple[Spoken, ...]
    facts: tuple[tuple[str, str], ...]
    """What the library itself calls it: ("PyArray_NDIM", "2"), ("allocator", "default_allocator")."""
