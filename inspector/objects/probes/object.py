"""An object's identity, type, header, size and a preview of its value. Runs no user code."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections import deque
from typing import TypeVar

from inspector import _native
from inspector.adapters.base import type_attribute
from inspector.binaries.addresses import place
from inspector.facts.native import Field, Method, Place, Slot
from inspector.facts.object import Builtin, Module, Object, Type
from inspector.facts.secret import SECRET_WORDS
from inspector.facts.unknown import Address, Unknown
from inspector.objects.classes import type_bases
from inspector.objects.layers.values import written

T = TypeVar("T")

MODULE_SLOT_VALUES = {
    ("Py_mod_multiple_interpreters", 0): "Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED",
    ("Py_mod_multiple_interpreters", 1): "Py_MOD_MULTIPLE_INTERPRETERS_SUPPORTED",
    ("Py_mod_multiple_interpreters", 2): "Py_MOD_PER_INTERPRETER_GIL_SUPPORTED",
    ("Py_mod_gil", 0): "Py_MOD_GIL_USED",
    ("Py_mod_gil", 1): "Py_MOD_GIL_NOT_USED",
}
"""Slots of a PyModuleDef with a number (Include/moduleobject.h)."""


def object_(subject: _native.Subject, *, reveal: bool = False) -> Object:
    """The object's own facts, read from its memory.

    Values under secret names (facts/secret.py) are masked in the preview unless `reveal`.
    """
    row = _native.object_layout(subject)
    return Object(
        address=Address(subject.address),
        type_name=row["type_name"],
        type_address=Address(row["type_address"]),
        type_mro=row["type_mro"],
        heap_type=row["heap_type"],
        defined_in=_defined_in(row["type_origin"], row["type_module"]),
        size_bytes=_known(row["size_bytes"], "the type's tp_basicsize or tp_itemsize cannot be right"),
        length=_known(_length(subject, row["length"]), "no built-in container, or its __len__ is not run"),
        gc_tracked=_known(row["gc_tracked"], "objects of this type have no gc header"),
        immortal=row["immortal"],
        interned=_known(row["interned"], "only a str can be interned"),
        header=tuple(Field(*field) for field in row["header"]),
        preview=preview(subject, reveal=reveal),
    )


def _length(subject: _native.Subject, read: int | None) -> int | None:
    """The items of a built-in container as read from memory; a deque's as its own C code counts them."""
    if read is not None or not any(base is deque for base in type_bases(type(subject.get()))):
        return read
    own = type_attribute(type(subject.get()), "__len__")
    return deque.__len__(subject.get()) if own is deque.__dict__["__len__"] else None


def preview(subject: _native.Subject, *, reveal: bool = False) -> str | Unknown:
    """At most 60 printable characters of the value, made without code of a user."""
    text = _native.preview(subject, () if reveal else SECRET_WORDS) or written(subject.get())
    return Unknown("its repr is code of its type: not run") if text is None else text


def details(subject: _native.Subject) -> dict[str, Type | Module | Builtin]:
    """The C structure of a type, module or builtin function, under "type", "module" or "builtin".

    Empty for any other object. Decided by the C type, never by `__class__`.
    """
    if type_row := _native.type_layout(subject):
        return {"type": _type(type_row)}
    if module_row := _native.module_layout(subject):
        return {"module": _module(module_row)}
    if builtin_row := _native.builtin_layout(subject):
        return {"builtin": _builtin(builtin_row)}
    return {}


def _type(row: _native.TypeRow) -> Type:
    slots = [Slot(name, place(address), inherited) for name, address, inherited in row["slots"]]
    return Type(
        name=row["name"],
        module=row["module"] or Unknown("the type names no module"),
        basicsize_bytes=row["basicsize"],
        itemsize_bytes=row["itemsize"],
        flags=row["flags"],
        bases=row["bases"],
        metatype=row["metatype"],
        defined_in=_defined_in(row["origin"], row["module"]),
        slots=tuple(sorted(slots, key=lambda slot: slot.inherited)),
        tables_of=row["tables_of"],
        methods=_methods(row["methods"]),
        members=tuple(row["members"]),
        getset=tuple(
            Method(name, ("read-only",) if not setter else (), _place(getter), doc)
            for name, getter, setter, doc in row["getset"]
        ),
        instances_hold_dict=row["instances_hold_dict"],
        instances_weakrefable=row["instances_weakrefable"],
    )


def _module(row: _native.ModuleRow) -> Module:
    made_in_c = bool(row["definition"])
    return Module(
        name=row["name"] or row["m_name"],
        file=row["file"]
        or (place(row["definition"]).library if row["definition"] else Unknown("it has no __file__")),
        doc=row["doc"],
        m_size=row["m_size"] if made_in_c else Unknown("a Python module has no PyModuleDef"),
        phases=("multi-phase" if row["slots"] else "single-phase") if made_in_c else "Python",
        slots=tuple(_module_slot(*slot) for slot in row["slots"]),
        methods=_methods(row["methods"]),
        types=tuple(row["types"]),
        state_address=Address(row["state"]) if row["state"] else Unknown(_why_no_state(row)),
    )


def _module_slot(name: str, value: int, is_function: bool) -> Slot:
    if is_function:
        return Slot(name, _place(value), inherited=False)
    return Slot(name, Unknown("not a function"), False, MODULE_SLOT_VALUES.get((name, value), str(value)))


def _why_no_state(row: _native.ModuleRow) -> str:
    if not row["definition"]:
        return "a Python module has no C state"
    return "m_size is -1: state in globals" if row["m_size"] < 0 else "no state was allocated"


def _builtin(row: _native.BuiltinRow) -> Builtin:
    unbound = "a function of no module and no object"
    vectorcall = row["vectorcall"]
    return Builtin(
        kind=row["kind"],
        method=_methods([row["method"]])[0],
        slot=row["slot"],
        bound_to=row["bound_to"] or Unknown(unbound),
        vectorcall=place(vectorcall) if vectorcall else Unknown("called through tp_call: no vectorcall"),
    )


def _methods(rows: list[_native.MethodRow]) -> tuple[Method, ...]:
    return tuple(Method(name, flags, _place(address), doc) for name, flags, address, doc in rows)


def _place(address: int) -> Place | Unknown:
    return place(address) if address else Unknown("NULL: no function")


def _defined_in(origin: int, module: str) -> str | Unknown:
    if origin:
        return place(origin).library
    return module or Unknown("the type does not say")


def _known(value: T | None, reason: str) -> T | Unknown:
    return Unknown(reason) if value is None else value
