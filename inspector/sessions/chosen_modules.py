"""Turn the modules that a user passes (name, pattern or module) into patterns."""

# SPDX-License-Identifier: MIT
from types import FunctionType, ModuleType
from typing import Any

from inspector.errors import InspectorError
from inspector.objects.classes import type_name

_dict_of = vars(ModuleType)["__dict__"].__get__


def names_of(modules: tuple[Any, ...]) -> tuple[str, ...]:
    """The pattern of each; runs no code of theirs. Raises InspectorError `unknown-module`."""
    return tuple(_name(module) for module in modules)


def _name(module: Any) -> str:
    kind = type(module)
    if issubclass(kind, str):
        return str.__str__(module)
    name = _dict_of(module).get("__name__") if issubclass(kind, ModuleType) else None
    if isinstance(name, str):
        return name
    raise InspectorError(
        f"{type_name(kind)} is no module.",
        slug="unknown-module",
        why="pass a module, or a name or pattern of modules",
        do=_cure(kind),
    )


def _cure(kind: type) -> str:
    if issubclass(kind, FunctionType):
        return "as a decorator with parentheses: @inspector.trace(), or with names: @inspector.trace('numpy')"
    return "inspector.trace('numpy'), inspector.trace('math.gcd') or inspector.trace(numpy)"
