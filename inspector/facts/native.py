"""Places in native code (library, symbol, offset), method table rows, type slots."""

# SPDX-License-Identifier: MIT
from inspector.facts.record import dataclass
from inspector.facts.unknown import Address, Unknown


@dataclass(frozen=True, slots=True)
class Place:
    """An address of code or static data, resolved by the symbol tables."""

    address: Address
    library: str | Unknown
    """File of the mapping that holds the address."""
    symbol: str | Unknown
    """The symbol that covers the address (dynamic symbols, then .symtab); C++ without parameters."""
    offset_bytes: int
    """Offset from the symbol, or from the library's first mapping if no symbol is known."""


@dataclass(frozen=True, slots=True)
class Method:
    """One row of a PyMethodDef table (CPython: Include/methodobject.h)."""

    name: str
    flags: tuple[str, ...]
    """METH_* names, e.g. ("METH_VARARGS", "METH_KEYWORDS")."""
    place: Place | Unknown
    doc: str
    """First line of ml_doc without the clinic signature; "" where there is none."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One filled slot of a type object or of a PyModuleDef, by its C name (tp_repr, Py_mod_exec)."""

    name: str
    place: Place | Unknown
    inherited: bool
    """True if the function is the base type's."""
    value: str = ""
    """Value of a slot that is not a function (Py_MOD_GIL_NOT_USED); "" for a function."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a C struct in memory."""

    name: str
    offset_bytes: int
    size_bytes: int
    value: str
    """As the field's C type reads: a count in decimal, a pointer in hex, flags by name."""
