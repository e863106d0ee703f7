"""Read a class as CPython stores it, without code of its metaclass; also one without PyType_Ready.

Extensions may use a static type without PyType_Ready (c-api/type), as f2py did with its `fortran`: it has no
`tp_mro` and no `tp_dict`.
"""

# SPDX-License-Identifier: MIT
from collections.abc import Mapping
from types import ModuleType
from typing import Any

_HEAP_TYPE = 1 << 9
"""Py_TPFLAGS_HEAPTYPE (c-api/typeobj): its instances hold a reference to it (What's New 3.9, bpo-35810)."""
HAVE_GC = 1 << 14
"""Py_TPFLAGS_HAVE_GC (Include/object.h)."""
_FLAGS = type.__dict__["__flags__"].__get__
_BASIC_SIZE = type.__dict__["__basicsize__"].__get__
_NAME = type.__dict__["__name__"].__get__
_MODULE = type.__dict__["__module__"].__get__
_MRO = type.__dict__["__mro__"].__get__
_NAMESPACE = type.__dict__["__dict__"].__get__
_REPR = type.__dict__["__repr__"]
_NAMES: Any = vars(ModuleType)["__dict__"]


def type_name(kind: type) -> str:
    """`kind.__name__` as CPython stores it, without code of the metaclass."""
    return str(_NAME(kind))


def type_module(kind: type) -> str:
    """`kind.__module__` as CPython stores it; if the class replaced it, what `tp_name` begins with."""
    try:
        module = _MODULE(kind)
    except AttributeError:  # a heap type of C whose name has no dot
        return ""
    return module if type(module) is str else _module_in_name(kind)


def _module_in_name(kind: type) -> str:
    """Of a heap type of C whose instances have a `__module__`, as generators of Cython."""
    named, end = _REPR(kind), f".{type_name(kind)}'>"
    return named[len("<class '") : -len(end)] if named.endswith(end) else ""


def module_names(value: Any) -> dict[str, Any] | None:
    """The namespace of a module, also of one with a class of its own, whose code does not run; else None."""
    is_module = type(value) is ModuleType or any(base is ModuleType for base in type_bases(type(value)))
    names: dict[str, Any] | None = _NAMES.__get__(value) if is_module else None
    return names


def module_file(value: Any) -> str | None:
    """The `__file__` of a module, read as `module_names` does; None if it has none."""
    found = (module_names(value) or {}).get("__file__")
    return found if type(found) is str else None


def type_bases(kind: type) -> tuple[type, ...]:
    """The method resolution order (`tp_mro`); only itself if it has none."""
    return tuple(_MRO(kind) or (kind,))


def type_namespace(kind: type) -> Mapping[str, Any]:
    """What the class itself defines (`tp_dict`); empty if it has none."""
    found: Mapping[str, Any] | None = _NAMESPACE(kind)
    return {} if found is None else found


def basic_size(kind: type) -> int:
    """Bytes of an instance's struct (`tp_basicsize`)."""
    return int(_BASIC_SIZE(kind))


def type_flags(kind: type) -> int:
    """`tp_flags` (c-api/typeobj)."""
    return int(_FLAGS(kind))


def is_heap_type(kind: type) -> bool:
    """Whether each instance holds a reference to the class, which its `tp_dealloc` must release."""
    return bool(_FLAGS(kind) & _HEAP_TYPE)


def full_name(kind: type) -> str:
    """Module and name (for a builtin the name alone) as in `type.__repr__`, read from the C struct."""
    return str(type.__repr__(kind)).removeprefix("<class ").rstrip(">").strip("'")
