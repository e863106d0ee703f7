"""The callables of the chosen modules that can be hooked, and the number of others by kind."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import builtins
import importlib.machinery
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from types import BuiltinFunctionType, ModuleType
from typing import Any, Final
from weakref import ReferenceType

from inspector import _native
from inspector.errors import InspectorError
from inspector.objects.classes import is_heap_type, module_names, type_bases, type_module, type_name
from inspector.tracing.arm.roles import ACCESSORS, DESCRIPTORS, UNSEEN, compiled_by_cffi, role_of
from inspector.tracing.arm.specialised import specialised
from inspector.tracing.arm.type_files import (
    by_file,
    can_come,
    is_homeless,
    is_of,
    latest,
    lies_in,
    publicness,
    single,
    subclasses,
)

_dict_of = type.__dict__["__dict__"].__get__
CALLED_ASKEW: Final = "__internal_mypyc_setup"
"""mypyc calls this function by its PyMethodDef, with one argument; it is declared with two."""
NAMELESS: Final = "a function without a name"
_BYTES_METHODS = ("join",)
"""Only this method of bytes is hooked: it copies others' bytes; the rest are called everywhere."""
LEFT_OUT: Final = frozenset(("inspector", "zmq", "tornado", "psutil", "debugpy", "_pydevd_bundle", "pydevd"))
"""This tool and what a kernel runs by itself; traced only if named."""
MOVES_STACKS: Final = "greenlet/_greenlet."
"""In the path of the library that copies the C stack away and back. Meanwhile it calls Python with frames
that are not there, so its import slots are never hooked; its functions are."""
COMPILED: Final = {"pytensor": ("cutils_ext", "lazylinker_ext")}
"""Package -> its modules that it compiles at run time, in folders beside those of its users' modules."""


@dataclass(slots=True)
class Targets:
    """The callables to hook: patterns of modules, and the callables found so far."""

    patterns: tuple[str, ...] = ()
    """"numpy" (its submodules too), "pandas.*", "math.gcd"; none: every installed package with extensions."""
    callables: list[Any] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    modules: list[str] = field(default_factory=list)
    """The module that each callable belongs to."""
    owners: list[str] = field(default_factory=list)
    """The package of each of these modules."""
    types: list[type] = field(default_factory=list)
    unseen: dict[str, Counter[str]] = field(default_factory=dict)
    """Module -> kind -> number of callables without a pointer to patch."""
    changes: int = 0
    """How often a module was searched."""
    buffers: bool = True
    """Whether types that pass on bytes are hooked for any patterns."""
    has_hidden: bool = True
    """Whether there may be functions that no module shows."""
    _adopted: set[int] = field(default_factory=set)
    _seen: set[int] = field(default_factory=set)
    _walked: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Module -> id and length of its namespace when it was searched."""
    _passed: dict[str, tuple[int, int]] = field(default_factory=dict)
    """The same of modules that no pattern fits."""
    _mark: int = -1
    """That of the modules when they were searched."""
    _looked_for: tuple[str, ...] = ()
    """The patterns, or packages, of the last search."""
    _roles: dict[int, str] = field(default_factory=dict)
    """During one search: id of a type -> what its instances are to it."""
    _kinds: list[type] = field(default_factory=list)
    """These types, which so stay alive."""
    _latest: ReferenceType[type] = field(default_factory=latest)
    """The class that was made last as it was searched."""
    _indices: tuple[list[int], dict[int, int]] = field(default_factory=lambda: ([], {}))

    @staticmethod
    def known(patterns: tuple[str, ...], buffers: bool = True) -> Targets:
        """The targets of the last use of these patterns, if its modules are still there; else new ones.

        `look` then searches only modules that came or changed since. They stay alive meanwhile.
        """
        kept = _kept.pop((patterns, buffers), None)
        if kept is None or not kept._is_current():
            kept = Targets(patterns, buffers=buffers)
        _kept[patterns, buffers] = kept
        while len(_kept) > MOST_KEPT:
            del _kept[next(iter(_kept))]
        return kept

    def _is_current(self) -> bool:
        if self._mark == _native.targets_mark():
            return True
        spaces = ((_namespace(name), known) for name, (known, _) in self._walked.items())
        return all(space is not None and id(space) == known for space, known in spaces)

    def look(self) -> None:
        """Find the callables of modules imported since the last call."""
        mark = _native.targets_mark()
        if mark != self._mark:
            self._look_at_modules()
            self._mark = mark
        if made := by_file(self._latest):  # C code makes types while it runs
            self._types_of({file: name for name in self._walked if (file := _library(name))}, made)
        self._latest = latest()
        for kind in _buffers() if self.buffers else ():
            if id(kind) not in self._seen:
                self._seen.add(id(kind))
                self._keep("builtins", kind.__name__, kind)
                self._methods("builtins", kind, _BYTES_METHODS if kind is bytes else None)
        self._roles.clear()
        self._kinds.clear()

    def _look_at_modules(self) -> None:
        patterns = self.patterns or tuple(_packages())
        if patterns != self._looked_for:
            self._looked_for, self._passed = patterns, {}
        walked, passed = self._walked.get, self._passed.get
        fresh = [  # over all modules: nothing is called that need not be
            name
            for name, module in list(sys.modules.items())
            if (space := module_names(module)) is not None
            and (known := (id(space), len(space))) != walked(name)
            and known != passed(name)
        ]
        files: dict[str, list[type]] = by_file() if any(map(_library, fresh)) else {}
        packages: dict[str, list[str]] = {}
        for name in fresh:
            packages.setdefault(_package(name), []).append(name)
        for pattern in patterns:
            names = fresh
            if "." not in pattern and "*" not in pattern:  # it fits packages as a whole
                its = (some for package, some in packages.items() if fits(package, pattern))
                names = [name for some in its for name in some]
            self._add(pattern, names, files)
        for name in fresh:
            space = _namespace(name)
            if space is not None and name not in self._walked:
                self._passed[name] = id(space), len(space)

    def adopt(self, module: str, name: str, value: Any) -> None:
        """Hook what no module shows, until `disown`: a function in a dict, a type of instances alone."""
        if id(value) in self._seen:
            return
        before = len(self.callables)
        if issubclass(type(value), type):
            self._keep_type(module, value)
        else:
            self._seen.add(id(value))
            self._keep(module, name.removeprefix(f"{module}.") or NAMELESS, value)
        self._adopted.update(map(id, self.callables[before:]))
        self.changes += 1

    def disown(self) -> None:
        """Hold no longer what was adopted: it may be an object of the user's."""
        if not self._adopted:
            return
        self.has_hidden = True
        self.changes += 1
        kept = [at for at, one in enumerate(self.callables) if id(one) not in self._adopted]
        for some in (self.callables, self.names, self.modules, self.owners):
            some[:] = [some[at] for at in kept]
        self.types = [kind for kind in self.types if id(kind) not in self._adopted]
        self._seen -= self._adopted
        self._adopted.clear()

    def wants_stdlib(self) -> bool:
        """Whether a pattern names a module of the standard library; then its own calls of bytes count."""
        return any(_package(pattern) in sys.stdlib_module_names for pattern in self.patterns)

    def require(self) -> None:
        """Raise InspectorError `unknown-module` for a pattern that matches nothing."""
        for pattern in self.patterns:
            head = pattern.rpartition(".")[0]
            is_known = pattern in sys.modules or any(fits(name, pattern) for name in list(sys.modules))
            known = is_known or single(pattern)
            if not known and (head in sys.modules or not can_come(pattern)):
                raise InspectorError(
                    f"nothing to trace is called {pattern!r:.60}.",
                    slug="unknown-module",
                    why="no module, function or pattern of imported modules fits",
                    do="give a module's name: inspector.trace('numpy')",
                )

    def packages(self) -> tuple[str, ...]:
        """The packages with callables found, if no pattern names any."""
        return tuple(dict.fromkeys(self.owners))

    def unseen_by_package(self) -> dict[str, dict[str, int]]:
        """Package -> kind -> number of its callables without a pointer to patch."""
        total = {package: Counter[str]() for package in self.packages()}
        for module, kinds in self.unseen.items():
            if (package := _package(module)) in total:
                total[package].update(kinds)
        if "builtins" in total:
            total["builtins"].update(specialised())
        return {package: dict(kinds) for package, kinds in total.items()}

    def index(self, number: int, numbers: list[int]) -> int | None:
        """Where the callable that got `number`, of the `numbers` of all in order, stands; None: nowhere."""
        if self._indices[0] != numbers:
            self._indices = list(numbers), {number: index for index, number in enumerate(numbers)}
        return self._indices[1].get(number)

    def _add(self, pattern: str, fresh: list[str], by_file: dict[str, list[type]]) -> None:
        modules = [name for name in fresh if fits(name, pattern) and self._is_new(name)]
        files = {file: name for name in modules if (file := _library(name))}
        for name in sorted(modules, key=publicness):
            space = _namespace(name) or {}
            self._walked[name] = id(space), len(space)
            self.changes += 1
            self.unseen.pop(name, None)
            for key, value in self._sifted(name, space):
                self._one(name, key, value)
        self._types_of(files, by_file if files else {})
        if not modules and (found := single(pattern)):
            self._one(*found)

    def _types_of(self, files: dict[str, str], by_file: dict[str, list[type]]) -> None:
        """Hook the types of these libraries, and those of the same file that inherit from them: no module may
        show these. `files`: library -> its module."""
        for file, some in ((file, some) for file, some in by_file.items() if file in files):
            for kind in subclasses(some):
                if id(kind) not in self._seen and is_of(kind, file):
                    self._keep_type(files[file], kind)

    def _sifted(self, module: str, owner: type | dict[str, Any]) -> Iterable[tuple[str, Any]]:
        """Names and values behind which a function of C can be; counts those without a pointer to patch."""
        found, *unseen = _native.targets_sift(owner)
        for kind, count in zip(UNSEEN, unseen, strict=True):
            if count:
                self.unseen.setdefault(module, Counter())[kind] += count
        items = iter(found)
        return zip(items, items, strict=True)

    def _is_new(self, name: str) -> bool:
        """Whether a module was not searched, or has other names since."""
        space = _namespace(name)
        known = (id(space), len(space)) if space is not None else None
        return self._walked.get(name) != known and self._passed.get(name) != known

    def _role(self, kind: type) -> str:
        """What instances of a type are to the search; "": nothing, as most names of a module."""
        known = self._roles.get(id(kind))
        if known is None:
            known = self._roles[id(kind)] = role_of(kind)
            self._kinds.append(kind)
        return known

    def _one(self, module: str, name: str, value: Any) -> None:
        seen = self._seen
        if id(value) in seen:
            return
        role = self._role(type(value))
        if role == "bound":
            value = value.__func__
            role = self._role(type(value))
            if id(value) in seen:
                return
        if role == "called":
            if _belongs(value, module) and not name.endswith("__new__"):
                seen.add(id(value))
                self._keep(module, name, value)
        elif role == "type":
            self._type(module, value)
        elif role == "property":
            for one in ACCESSORS:
                self._one(module, name, one.__get__(value))
        elif role == "library":
            for key, function in compiled_by_cffi(value):
                seen.add(id(function))
                self._keep(module, f"{name}.{key}", function)
        elif role in UNSEEN:
            self.unseen.setdefault(module, Counter())[role] += 1

    def _keep(self, module: str, name: str, value: Any) -> None:
        self.callables.append(value)
        self.names.append(f"{module}.{name}")
        self.modules.append(module)
        self.owners.append(_package(module))

    def _keep_type(self, module: str, kind: type) -> None:
        """Hook a type: one that a module shows, or one of its file, such as an iterator."""
        self._seen.add(id(kind))
        self.types.append(kind)
        self._keep(module, type_name(kind), kind)
        self._methods(module, kind)
        of_pybind11 = type.__subclasses__(property) if is_homeless(type_module(type(kind))) else ()
        for other in (*type_bases(kind)[1:], type(kind), *of_pybind11):
            if id(other) not in self._seen and is_heap_type(other) and is_homeless(type_module(other)):
                self._keep_type(module, other)

    def _type(self, module: str, kind: type) -> None:
        home = type_module(kind)
        is_pythons = vars(builtins).get(type_name(kind)) is kind or not is_heap_type(kind)
        is_bare = home == "builtins" and not is_pythons  # PyO3 names no module
        is_named = home != "" and _package(home) == _package(module)
        if not (is_named or is_bare or lies_in(kind, home, module)):
            return
        self._keep_type(module, kind)
        for other in type_bases(type(kind)):  # ctypes: Array.from_buffer is of its metaclass
            if id(other) not in self._seen and other is not type and other is not object:
                self._type(module, other)

    def _methods(self, module: str, kind: type, chosen: tuple[str, ...] | None = None) -> None:
        if chosen is not None:
            names: Iterable[tuple[str, Any]] = ((name, _dict_of(kind)[name]) for name in chosen)
        else:
            names = self._sifted(module, kind)
        for name, value in names:
            role = self._role(type(value))
            if role and role != "type" and name != CALLED_ASKEW:
                is_descriptor = _native.exactly(value, *DESCRIPTORS)
                owner = value.__objclass__ if is_descriptor else kind  # torch copies its tables
                self._one(module, f"{type_name(owner)}.{name}", value)


MOST_KEPT: Final = 4
_kept: dict[tuple[tuple[str, ...], bool], Targets] = {}
"""Patterns and buffers of the last uses -> their targets."""


def _namespace(name: str) -> dict[str, Any] | None:
    """The names of an imported module; None for what stands in sys.modules without being one."""
    return module_names(sys.modules.get(name))


def _library(name: str) -> str:
    """The file of an extension module; "" for another module."""
    file = (_namespace(name) or {}).get("__file__")
    is_library = isinstance(file, str) and file.endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES))
    return str(file) if is_library else ""


def _buffers() -> list[type]:
    """Types that pass on bytes of any module: creating one is always traced."""
    array = sys.modules.get("array")
    found: list[type] = [bytes, bytearray, memoryview]
    return [*found, vars(array)["array"]] if type(array) is ModuleType else found


@lru_cache(1 << 14)
def _package(name: str) -> str:
    return name.partition(".")[0]


def _packages() -> list[str]:
    """ctypes and the top-level packages with an extension module, except stdlib, us and the kernel's own."""
    suffixes = tuple(importlib.machinery.EXTENSION_SUFFIXES)
    found = set()
    for name, module in list(sys.modules.items()):
        file = (module_names(module) or {}).get("__file__")
        if isinstance(file, str) and file.endswith(suffixes):
            found.add(_package(name))
    return sorted((found - sys.stdlib_module_names - LEFT_OUT) | ({"ctypes"} & {*sys.modules}))


def fits(name: str, pattern: str) -> bool:
    """Whether a pattern matches: a name includes its submodules and extension ("cffi": _cffi_backend)."""
    return _fits(name if "." in pattern or "*" in pattern else _package(name), pattern)


@lru_cache(1 << 16)
def _fits(name: str, pattern: str) -> bool:
    package = _package(name)
    beside = (f"_{pattern}", f"{pattern}_core", f"{pattern}lib", *COMPILED.get(pattern, ()))
    is_beside = package.startswith(f"_{pattern}_") or package in beside
    return bool(pattern) and (
        name == pattern
        or name.startswith(f"{pattern}.")
        or ("*" in pattern and fnmatchcase(name, pattern))
        or is_beside
    )


def _belongs(value: Any, module: str) -> bool:
    """Whether the module's package defines it: not so for `from math import gcd`, or a pattern's `match`."""
    if not issubclass(type(value), BuiltinFunctionType):  # a method that knows its class has a type below
        return True
    bound = value.__self__
    if bound is not None and bound is sys.modules.get(module):  # its C may call it by another name
        return True
    if isinstance(value.__module__, str):
        return _package(value.__module__) == _package(module)
    owner = bound if isinstance(bound, type) else type(bound)
    home = type_module(owner)
    is_pythons = home != "builtins" or vars(builtins).get(type_name(owner)) is owner
    is_unnamed = owner in (ModuleType, type(None)) or not home or not is_pythons
    return is_unnamed or _package(home) == _package(module)
