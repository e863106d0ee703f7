"""What the user's own modules hold as globals, and their classes as attributes. Runs no user code."""

# SPDX-License-Identifier: MIT
import sys
import types
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from inspector._native import Subject
from inspector.objects.call_site import is_users
from inspector.objects.classes import type_bases, type_namespace

MOST_GLOBALS: Final = 5_000
"""Of all modules together."""
_OTHERS: Final = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType)
"""What such values hold is not theirs alone."""


def module_globals() -> Iterator[tuple[str, str, Subject]]:
    """(where: "store.Pool.cache", module, object) for each global of a module that is the user's own."""
    every = (row for name, space in _modules() for row in _held(name, space))
    return islice(every, MOST_GLOBALS)


def _modules() -> Iterator[tuple[str, dict[str, Any]]]:
    """Modules of the user's files, without the one that runs."""
    for name, module in list(sys.modules.items()):
        if type(name) is not str or type(module) is not types.ModuleType or name == "__main__":
            continue
        if _is_own(vars(module)):
            yield name, vars(module)


def has_own_names(x: Any) -> bool:
    """Whether it is a module of the user's own, or a class that one of them defines."""
    if type(x) is types.ModuleType:
        return _is_own(vars(x))
    if not is_class(x):
        return False
    name = _text(type_namespace(x), "__module__")
    module = sys.modules.get(name)
    return name == "__main__" or (type(module) is types.ModuleType and _is_own(vars(module)))


def own_names(x: Any) -> Iterator[tuple[str, Any]]:
    """The globals of such a module, the attributes of such a class: without code and other modules."""
    if type(x) is types.ModuleType:
        module = _text(vars(x), "__name__")
        for place, _, held in _held(module, vars(x)):
            yield place.removeprefix(f"{module}."), held.get()
        return
    for name, value in list(type_namespace(x).items()):
        if type(name) is str and not name.startswith("__") and not _is_code(value):
            yield name, value


def _is_own(space: Mapping[str, Any]) -> bool:
    file = _text(space, "__file__")
    return bool(file) and is_users(file)


def _text(space: Mapping[str, Any], name: str) -> str:
    """A text among names, found without comparing keys of other types."""
    found = (value for key, value in list(space.items()) if type(key) is str and key == name)
    return next((value for value in found if type(value) is str), "")


def _held(module: str, space: Mapping[str, Any]) -> Iterator[tuple[str, str, Subject]]:
    for name, value in list(space.items()):
        if type(name) is not str or name.startswith("__"):
            continue
        if is_class(value):
            yield from _attributes(module, name, value)
        elif not any(type(value) is other for other in _OTHERS):
            yield f"{module}.{name}", module, Subject(value)


def is_class(value: Any) -> bool:
    """Whether it is a class; asks only the MRO of its type."""
    return any(base is type for base in type_bases(type(value)))


def _attributes(module: str, name: str, kind: Any) -> Iterator[tuple[str, str, Subject]]:
    """Of a class that the module defines; one that it imports is told where it is defined, if it is."""
    if _text(type_namespace(kind), "__module__") == module:
        for key, value in own_names(kind):
            yield f"{module}.{name}.{key}", module, Subject(value)


def _is_code(value: Any) -> bool:
    kind = type(value)
    return is_class(value) or any(kind is other for other in (*_OTHERS, staticmethod, classmethod, property))
