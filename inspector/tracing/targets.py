"""What of the chosen modules can be hooked: callables with a pointer of their own, and the rest by kind."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

from inspector.errors import InspectorError

_dict_of = type.__dict__["__dict__"].__get__
_flags_of = type.__dict__["__flags__"].__get__
_HEAP_TYPE, _HAVE_VECTORCALL = 1 << 9, 1 << 11  # Include/object.h
_PYTHONS = (FunctionType, MethodType, WrapperDescriptorType)
_BOUND = (classmethod, staticmethod)
_DESCRIPTORS = (MethodDescriptorType, type(dict.__dict__["fromkeys"]))
MOST = 16_000
"""Callables hooked at once: the extension has 16,384 thunks in all."""


@dataclass(slots=True)
class Targets:
    """Callables to hook, with their names, and how many of each kind cannot be hooked."""

    callables: list[Any] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    modules: list[str] = field(default_factory=list)
    """The module that each callable belongs to."""
    unseen: dict[str, Counter[str]] = field(default_factory=dict)
    types: list[type] = field(default_factory=list)


def find(patterns: Iterable[str]) -> Targets:
    """The callables of the modules that `patterns` name: "numpy", "numpy.linalg", "pandas.*", "math.gcd".

    A module's name takes its submodules in. Nothing is imported but a module that is named and is not there
    yet. Raises InspectorError `unknown-module` where a pattern fits nothing.
    """
    found, seen = Targets(), set[int]()
    for pattern in patterns:
        if not _add(pattern, found, seen):
            raise InspectorError(
                f"nothing to trace is called {pattern!r:.60}.",
                slug="unknown-module",
                why="no imported module, function or pattern fits",
                do="import it first, or give a module's name: inspector.trace('numpy')",
            )
    return found


def _add(pattern: str, found: Targets, seen: set[int]) -> bool:
    """Add what one pattern names; whether it named anything."""
    modules = [name for name in list(sys.modules) if _fits(name, pattern)]
    for name in modules:
        if type(sys.modules[name]) is ModuleType:
            _walk(name, vars(sys.modules[name]), found, seen)
    return bool(modules) or _add_one(pattern, found, seen)


def _fits(name: str, pattern: str) -> bool:
    return (
        name == pattern or name.startswith(f"{pattern}.") or ("*" in pattern and fnmatchcase(name, pattern))
    )


def _add_one(dotted: str, found: Targets, seen: set[int]) -> bool:
    """A single callable: the longest imported prefix, then attributes of exact modules and types."""
    head, _, name = dotted.rpartition(".")
    if head in sys.modules and name in (table := vars(sys.modules[head])):
        _one(head, name, table[name], found, seen)
        return True
    module, _, kind = head.rpartition(".")
    owner = vars(sys.modules[module]).get(kind) if module in sys.modules else None
    if isinstance(owner, type) and name in _dict_of(owner):
        _one(module, f"{kind}.{name}", _dict_of(owner)[name], found, seen)
        return True
    return False


def _walk(module: str, table: dict[str, Any], found: Targets, seen: set[int]) -> None:
    """Every callable of a module's namespace, and of the types that say they live under it."""
    for name, value in list(table.items()):
        _one(module, name, value, found, seen)


def _one(module: str, name: str, value: Any, found: Targets, seen: set[int]) -> None:
    if id(value) in seen:
        return
    if isinstance(value, type):
        if _lives_in(value, module):
            seen.add(id(value))
            found.types.append(value)
            _type(module, value, found, seen)
        return
    if type(value) in _BOUND:
        value = value.__func__
    if not _is_hookable(value) or not _belongs(value, module):
        _count_unseen(module, value, found)
        return
    seen.add(id(value))
    if len(found.callables) < MOST:
        found.callables.append(value)
        found.names.append(f"{module}.{name}")
        found.modules.append(module)


def _type(module: str, kind: type, found: Targets, seen: set[int]) -> None:
    for name, value in list(_dict_of(kind).items()):
        if not isinstance(value, type):
            _one(module, f"{kind.__name__}.{name}", value, found, seen)


def _is_hookable(value: Any) -> bool:
    """A builtin function or method, or an instance whose type calls it through a vectorcall pointer."""
    kind = type(value)
    if kind is BuiltinFunctionType or kind in _DESCRIPTORS:
        return True
    return bool(_flags_of(kind) & _HAVE_VECTORCALL) and kind not in _PYTHONS and not issubclass(kind, type)


def _belongs(value: Any, module: str) -> bool:
    """Whether it is of the module's own package: `from math import gcd` is not."""
    if type(value) is not BuiltinFunctionType:
        return True
    home = value.__module__ or getattr(type(value.__self__), "__module__", "")
    return not isinstance(home, str) or home.partition(".")[0] == module.partition(".")[0]


def _lives_in(kind: type, module: str) -> bool:
    home = _dict_of(kind).get("__module__", "") if _flags_of(kind) & _HEAP_TYPE else kind.__module__
    return isinstance(home, str) and home.partition(".")[0] == module.partition(".")[0]


def _count_unseen(module: str, value: Any, found: Targets) -> None:
    kind = type(value).__name__
    if kind in ("wrapper_descriptor", "getset_descriptor", "member_descriptor"):
        found.unseen.setdefault(module, Counter())[kind] += 1


def subclasses(kinds: Iterable[type]) -> Iterator[type]:
    """The types and every subclass of them, each once."""
    waiting, seen = list(kinds), set[type]()
    while waiting:
        kind = waiting.pop()
        if kind not in seen:
            seen.add(kind)
            yield kind
            waiting += type.__subclasses__(kind)
