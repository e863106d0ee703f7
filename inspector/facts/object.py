"""The object itself: identity, type, header; and the parts of a type, a module or a builtin function."""

# SPDX-License-Identifier: MIT
from inspector.facts.native import Field, Method, Place, Slot
from inspector.facts.record import dataclass
from inspector.facts.unknown import Address, Unknown


@dataclass(frozen=True, slots=True)
class Object:
    """Identity, type and header of one object, read from its memory: no user code runs."""

    address: Address
    type_name: str
    """tp_name, with the module if the type stores it."""
    type_address: Address
    type_mro: tuple[str, ...]
    heap_type: bool
    """True for a type made at run time (class statement, PyType_FromSpec), False for a static C type."""
    defined_in: str | Unknown
    """The extension file or Python module that defines the type."""
    size_bytes: int | Unknown
    """The object with its headers and the blocks only it uses (a list's items, an ndarray's own data), as
    `sys.getsizeof` returns, without a user's `__sizeof__`. Without the objects it refers to."""
    length: int | Unknown
    """Item count of a built-in container, or of a subclass without a `__len__` of its own; else unknown."""
    gc_tracked: bool | Unknown
    immortal: bool
    interned: bool | Unknown
    header: tuple[Field, ...]
    preview: str | Unknown
    """At most 60 printable characters, of exact built-in types and values of known libraries; never a user's
    `__repr__`."""


@dataclass(frozen=True, slots=True)
class Type:
    """A type object as rows (CPython: Doc/c-api/typeobj.rst)."""

    name: str
    module: str | Unknown
    basicsize_bytes: int
    itemsize_bytes: int
    flags: tuple[str, ...]
    """Py_TPFLAGS_* names that are set."""
    bases: tuple[str, ...]
    metatype: str
    defined_in: str | Unknown
    """The extension file, or the Python module of a class statement."""
    slots: tuple[Slot, ...]
    """Filled slots, the type's own first."""
    tables_of: str
    """The type whose C tables are shown: itself, or for a class statement the nearest base made in C."""
    methods: tuple[Method, ...]
    members: tuple[str, ...]
    """PyMemberDef rows: "name: T_INT at 16"."""
    getset: tuple[Method, ...]
    """PyGetSetDef rows; `place` is the getter."""
    instances_hold_dict: bool
    instances_weakrefable: bool


@dataclass(frozen=True, slots=True)
class Module:
    """An extension module's PyModuleDef (CPython: Include/moduleobject.h, PEP 489)."""

    name: str
    file: str | Unknown
    doc: str
    m_size: int | Unknown
    """Bytes of per-module state; -1: state in globals; unknown for a module without a PyModuleDef."""
    phases: str
    """"single-phase", "multi-phase" or "Python" (no PyModuleDef)."""
    slots: tuple[Slot, ...]
    methods: tuple[Method, ...]
    types: tuple[str, ...]
    """Types in its namespace whose module it is."""
    state_address: Address | Unknown


@dataclass(frozen=True, slots=True)
class Builtin:
    """A builtin function or method: its PyMethodDef row and what it is bound to."""

    kind: str
    """builtin_function_or_method, method_descriptor, classmethod_descriptor, wrapper_descriptor,
    method-wrapper or getset_descriptor."""
    method: Method
    slot: str
    """The type slot that a wrapper calls ("tp_repr"); "" where there is none."""
    bound_to: str | Unknown
    """Type name of `__self__`, or the module's name."""
    vectorcall: Place | Unknown
