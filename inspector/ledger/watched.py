"""What was watched of each module asked for: hooked functions and import slots, and calls of both."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from types import BuiltinFunctionType, ClassMethodDescriptorType, GetSetDescriptorType, MethodDescriptorType
from typing import Any, Final, NamedTuple

from inspector import _native
from inspector.facts.leaks import WatchedModule
from inspector.objects.classes import module_file, module_names, type_module
from inspector.tracing.arm.capi_slots import CapiSlots
from inspector.tracing.arm.targets import CALLED_ASKEW, Targets, fits
from inspector.tracing.arm.type_files import is_homeless
from inspector.tracing.arm.type_slots import TypeSlots

ABSENT: Final = "it was never imported while the code ran"
PURE: Final = "it has no native code: no extension module of it is loaded"
PUT_BACK: Final = "other code put its hooks back before the block ended"
PASSED_BY: Final = "it was loaded past Python's import system, which announces new modules"
FULL: Final = "this process has used all its trampolines: ask in a new process"
CALLBACK: Final = "weakref"
"""What `ledger_unhooked` tells for a function that a weak reference calls."""
_CLASS_OF: Final[dict[type, Any]] = {
    kind: vars(kind)["__objclass__"].__get__
    for kind in (MethodDescriptorType, ClassMethodDescriptorType, GetSetDescriptorType)
}
_LEFT_NONE: Final = -1
"""Number of a callable for which no trampoline was left."""
_MAKERS: Final = ("PyType_FromSpec", "PyType_FromModuleAndSpec", "PyCMethod_New")
"""What makes types and functions that Python calls."""


class Armed(NamedTuple):
    """What was hooked; `numbers` of the callables, in the order of `found`."""

    found: Targets
    numbers: list[int]
    types: TypeSlots
    slots: CapiSlots
    made_by_imports: Mapping[str, int]
    """File -> types and functions that it made while modules were imported: these were hooked then."""


class Makers:
    """Types and functions that libraries make while modules are imported, apart from those of later calls."""

    def __init__(self) -> None:
        self.by_imports: Counter[str] = Counter()
        """File -> how many."""
        self._before: Counter[str] = Counter()

    def note(self) -> None:
        """Call it before an import."""
        self._before = _made(_native.got_slots())

    def imported(self) -> bool:
        """Call it after an import, or after a part of it; whether this made some."""
        before = self._before
        self.note()
        made = self._before - before
        self.by_imports += made
        return bool(made)


def watched(
    patterns: tuple[str, ...], armed: Armed, slots: list[tuple[Any, ...]]
) -> tuple[WatchedModule, ...]:
    """One fact a pattern; none named: one for all. Call it before anything is disarmed."""
    places = [(number, module) for number, module in _places(armed) if number >= 0]
    calls = _native.ledger_calls()
    imports = _imports(armed.slots, slots)
    is_whole = not places or _native.calls_armed() > 0
    return tuple(
        _one(pattern, places if is_whole else [], calls, imports, armed) for pattern in patterns or ("",)
    )


def _places(armed: Armed) -> Iterator[tuple[int, str]]:
    """Number of each hooked function and type slot, and its module."""
    yield from zip(armed.numbers, armed.found.modules, strict=False)
    strange = set(filter(is_homeless, set(armed.types.modules.values())))  # `_wrappers` of wrapt._wrappers
    pairs = zip(armed.found.callables, armed.found.modules, strict=True) if strange else ()
    homes = {id(one): module for one, module in pairs}
    for number, module in armed.types.modules.items():
        yield number, homes.get(armed.types.kinds[number], module) if module in strange else module


def _imports(slots: CapiSlots, rows: list[tuple[Any, ...]]) -> list[tuple[str, str, int]]:
    """File and function of each patched import slot of the C API, and how often it was used."""
    patched = [(row[1], row[2], row[5]) for row in rows if row[3] >= 0 and row[6]]
    wanted = slots.wanted(frozenset(file for file, *_ in patched)) | (slots.hosts or frozenset())
    return [row for row in patched if row[0] in wanted]


def _made(rows: list[tuple[Any, ...]]) -> Counter[str]:
    made: Counter[str] = Counter()
    for row in rows:
        if row[2] in _MAKERS:
            made[row[1]] += row[5]
    return made


def _one(
    pattern: str,
    places: list[tuple[int, str]],
    calls: Mapping[int, int],
    imports: list[tuple[str, str, int]],
    armed: Armed,
) -> WatchedModule:
    functions = {number for number, module in places if not pattern or fits(module, pattern)}
    files = frozenset(file for file, *_ in imports)
    own = armed.slots.wanted(files, (pattern,)) if pattern else files
    slots = [count for file, _, count in imports if file in own]
    made = sum(count for file, name, count in imports if file in own and name in _MAKERS)
    made -= sum(armed.made_by_imports.get(file, 0) for file in own)
    is_watched = bool(functions or slots)
    seen = sum(calls.get(number, 0) for number in functions)
    unhooked = _unhooked(pattern, functions, armed) if seen else []
    unnamed, callbacks = unhooked.count(""), unhooked.count(CALLBACK)
    return WatchedModule(
        module=pattern,
        functions=len(functions),
        slots=len(slots),
        calls=seen,
        uses=sum(slots),
        why="" if is_watched or not pattern else _why(pattern, armed),
        made=max(0, made - callbacks),
        unhooked=tuple(sorted(set(unhooked) - {CALLBACK, "" if unnamed <= callbacks else CALLBACK})),
    )


def _unhooked(pattern: str, functions: set[int], armed: Armed) -> list[str]:
    """What Python can call of the same libraries and no hook sees: made meanwhile, or kept out of sight.

    CALLBACK: one that a weak reference calls, as those without a name of pybind11.
    """
    return [name for name, _ in _hidden(pattern, functions, armed.found)]


def adopt(pattern: str, found: Targets, numbers: list[int]) -> None:
    """Add what living objects hold of a module's functions and types, and no module shows."""
    pairs = [pair for pair in zip(numbers, found.modules, strict=False) if fits(pair[1], pattern)]
    functions = {number for number, _ in pairs if number >= 0}
    modules = list(dict.fromkeys(module for _, module in pairs))
    for name, one in _hidden(pattern, functions, found) if functions else ():
        if one is not None:
            found.adopt(_home(one, modules), name, one)


def _home(one: Any, modules: list[str]) -> str:
    """That of the modules in whose file a function is, or that the class says it is of; else the first."""
    if type(one) is BuiltinFunctionType:
        image = _native.image(_code_of(one))
        own = (name for name in modules if image and module_file(sys.modules.get(name)) == image[0])
    else:
        of_class = _CLASS_OF.get(type(one))
        said = type_module(of_class(one) if of_class else one if issubclass(type(one), type) else type(one))
        own = (name for name in modules if said and (name == said or name.endswith(f".{said}")))
    return next(own, modules[0])


def _code_of(function: BuiltinFunctionType) -> int:
    """`m_ml->ml_meth` (Include/cpython/methodobject.h)."""
    row = int.from_bytes(_native.read(id(function) + object.__basicsize__, 8) or b"", "little")
    return int.from_bytes(_native.read(row + 8, 8) or b"", "little")


def _hidden(pattern: str, functions: set[int], found: Targets) -> list[tuple[str, Any]]:
    """Names, and the objects that are called, if they live."""
    addresses = [_native.calls_function(number) for number in functions]
    places = list(zip(found.callables, found.modules, strict=True))
    fitting = {module for _, module in places if not pattern or fits(module, pattern)}
    files = {module_file(sys.modules.get(module)) for module in fitting}
    inside = [one for one in addresses if (image := _native.image(one)) is not None and image[0] in files]
    own = {id(one) for one, module in places if module in fitting}
    types = [kind for kind in found.types if id(kind) in own]
    pairs = zip(*_native.ledger_unhooked(inside or addresses, types), strict=True)  # pybind11 shares types
    return [(name, one) for name, one in pairs if not name.endswith(CALLED_ASKEW)]


def _why(pattern: str, armed: Armed) -> str:
    """Why nothing of a module is watched."""
    hooked = [
        number
        for number, module in zip(armed.numbers, armed.found.modules, strict=False)
        if fits(module, pattern)
    ]
    if any(number >= 0 for number in hooked):
        return PUT_BACK
    if _LEFT_NONE in hooked or armed.slots.without_trampoline():
        return FULL
    armed.found.look()
    if any(fits(module, pattern) for module in armed.found.modules[len(armed.numbers) :]):
        return PASSED_BY
    known = any(fits(name, pattern) for name, one in list(sys.modules.items()) if module_names(one))
    return PURE if known or pattern.rpartition(".")[0] in sys.modules else ABSENT
