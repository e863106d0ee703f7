"""What the objects in a namespace are to a trace, by their types."""

# SPDX-License-Identifier: MIT
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, MethodType, WrapperDescriptorType
from typing import Any, Final

from inspector.objects.classes import is_heap_type, type_flags, type_module, type_name

_HAVE_VECTORCALL = 1 << 11  # Include/object.h
_PYTHONS = (FunctionType, MethodType, WrapperDescriptorType)
_BOUND = (classmethod, staticmethod)
DESCRIPTORS: Final = (MethodDescriptorType, type(dict.__dict__["fromkeys"]))
ACCESSORS: Final = tuple(property.__dict__[name] for name in ("fget", "fset", "fdel"))
UNSEEN: Final = ("wrapper_descriptor", "getset_descriptor", "member_descriptor")
"""Types of callables without a pointer to patch."""


def role_of(kind: type) -> str:
    """ "type", "bound" (it holds a function), "property", "library" (of cffi), "called" (a builtin function,
    or what is called through a vectorcall pointer of its own), one of `UNSEEN`, or ""."""
    if any(kind is one for one in _BOUND):  # `in` would ask the metaclass of a user's
        return "bound"
    if type_name(kind) == "instancemethod" and type_module(kind) == "builtins" and not is_heap_type(kind):
        return "bound"  # a method of pybind11
    if issubclass(kind, property):
        return "property"
    if issubclass(kind, type):  # isinstance would read the value's __class__
        return "type"
    name = type_name(kind)
    if name == "Lib" and type_module(kind) == "_cffi_backend":
        return "library"
    has_pointer = type_flags(kind) & _HAVE_VECTORCALL and not any(kind is one for one in _PYTHONS)
    if has_pointer or any(kind is one for one in (BuiltinFunctionType, *DESCRIPTORS)):
        return "called"
    return name if name in UNSEEN else ""


def compiled_by_cffi(library: Any) -> list[tuple[str, Any]]:
    """The functions of a library in a module compiled by cffi: created here as on first use."""
    return [(name, one) for name, one in library.__dict__.items() if callable(one)]
