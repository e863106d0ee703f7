"""Find the file of a type's C code, for types whose name does not show it.

CPython takes `__module__` of a static type from its `tp_name`: "_box.Box" for a type in package._box, and
only "Box" for many others, which therefore appear as builtins.
"""

# SPDX-License-Identifier: MIT
import importlib.machinery
import sys
from collections.abc import Iterable
from types import MethodDescriptorType
from typing import Any, Final
from weakref import ReferenceType, ref

from inspector import _native
from inspector.objects.classes import is_heap_type, module_file, module_names, type_flags

_dict_of = type.__dict__["__dict__"].__get__
_IMMUTABLE: Final = 1 << 8
"""Py_TPFLAGS_IMMUTABLETYPE (Include/object.h)."""
_METHOD_AT: Final = 40
"""Of PyMethodDescrObject: `d_method`, in the table of its library (Include/cpython/descrobject.h)."""


def lies_in(kind: type, home: str, module: str) -> bool:
    """Whether the type is in the module's own file; for a `home`, its `__module__`, that names no module."""
    if home != "builtins" and not is_homeless(home):
        return False
    image = _native.image(_address(kind) or _origin(kind))
    return image is not None and image[0] == module_file(sys.modules[module])


def is_of(kind: type, file: str) -> bool:
    """Whether C code of this file made the type."""
    image = _native.image(_address(kind))
    return image is not None and image[0] == file


def is_homeless(home: str) -> bool:
    """Whether `__module__` names no module: so pybind11 and Cython call the types that modules share."""
    return home != "builtins" and home.partition(".")[0] not in sys.modules


def latest() -> ReferenceType[type]:
    """The class that was made last."""
    return ref(type.__subclasses__(object)[-1])


def by_file(after: ReferenceType[type] | None = None) -> dict[str, list[type]]:
    """Library -> the types of its C code, shown by a module or not; only direct subclasses of object.

    `after`: only those made after this one, if it is still there.
    """
    found: dict[str, list[type]] = {}
    last = after() if after is not None else None
    for kind in reversed(type.__subclasses__(object)):
        if kind is last:
            break
        image = _native.image(_address(kind))
        if image is not None:
            found.setdefault(image[0], []).append(kind)
    return found


def _address(kind: type) -> int:
    """Address of the type, if static; else of a row of its methods; 0: it has none."""
    if not is_heap_type(kind):
        return id(kind)
    methods = (value for value in _dict_of(kind).values() if type(value) is MethodDescriptorType)
    found = next((_native.read(id(one) + _METHOD_AT, 8) for one in methods), None)
    if found is None and type_flags(kind) & _IMMUTABLE:  # no class statement makes such a type
        return _origin(kind)
    return int.from_bytes(found or b"", "little")


def _origin(kind: type) -> int:
    """Address of a C function in the slots of a heap type without methods of its own; 0: it has none."""
    row = _native.type_layout(_native.Subject(kind))
    return row["origin"] if row is not None else 0


def subclasses(kinds: Iterable[type]) -> list[type]:
    """The types and all their subclasses, each once."""
    waiting, seen = list(kinds), dict[int, type]()  # a metaclass may define `__hash__`
    while waiting:
        kind = waiting.pop()
        if id(kind) not in seen:
            seen[id(kind)] = kind
            waiting += type.__subclasses__(kind)
    return list(seen.values())


def single(dotted: str) -> tuple[str, str, Any] | None:
    """(module, name in it, value) of "math.gcd" or "numpy.ndarray.copy"; None if it does not exist."""
    head, _, name = dotted.rpartition(".")
    if name in (table := module_names(sys.modules.get(head)) or {}):
        return head, name, table[name]
    module, _, kind = head.rpartition(".")
    owner = (module_names(sys.modules.get(module)) or {}).get(kind)
    if isinstance(owner, type) and name in _dict_of(owner):
        return module, f"{kind}.{name}", _dict_of(owner)[name]
    return None


def publicness(name: str) -> tuple[int, int, str]:
    """Sort key: public modules first, so that a function gets the name that users know."""
    parts = name.split(".")
    return sum(part.startswith("_") for part in parts), len(parts), name


def can_come(pattern: str) -> bool:
    """Whether its package is installed: it is hooked when the program imports it."""
    named = all(part.isidentifier() or "*" in part for part in pattern.split("."))
    try:
        package = pattern.partition(".")[0]
        built_in = package in sys.builtin_module_names
        return named and (built_in or importlib.machinery.PathFinder.find_spec(package) is not None)
    except (ImportError, ValueError):
        return False
