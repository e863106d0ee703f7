"""The first global of a path: modules that have this object, and modules with another of that name."""

# SPDX-License-Identifier: MIT
import struct
from collections.abc import Iterator
from typing import NamedTuple

from inspector.debugger.attach import object_layout as at
from inspector.debugger.attach.objects import Objects
from inspector.debugger.memory.remote_memory import Unreadable


class Global(NamedTuple):
    """The first global of a path."""

    name: str = ""
    """"" for a path to a module or a builtin."""
    modules: tuple[str, ...] = ()
    """Modules that have this object under the name; first the one that was read."""
    namesakes: tuple[str, ...] = ()
    """Modules that have another object under the name."""


def scopes(objects: Objects, modules: int) -> dict[int, str]:
    """Address of a module's dict -> the module's name."""
    found = {}
    for name, module in objects.text_items(modules):
        try:
            if objects.type_name(module) in ("module", "types.ModuleType"):
                found[objects.memory.word(module + at.MODULE_DICT)] = name
        except (Unreadable, struct.error):
            continue
    return found


def of_global(objects: Objects, modules: int, module: str, name: str) -> Global:
    """Which modules have a global of that name. Compares keys by address: names are interned."""
    home = objects.memory.word(objects.named(modules, module) + at.MODULE_DICT)
    text, here = next((pair for pair in _items(objects, home) if objects.text(pair[0]) == name), (0, 0))
    others = {
        called: value
        for scope, called in scopes(objects, modules).items()
        for key, value in _items(objects, scope)
        if text and key == text and scope != home
    }
    same = sorted(called for called, value in others.items() if value == here)
    return Global(name, (module, *same), tuple(sorted(set(others) - set(same))))


def with_global(objects: Objects, modules: int, name: str) -> list[str]:
    """Names of the modules that have a global of that name."""
    is_name: dict[int, bool] = {}
    found = []
    for scope, module in scopes(objects, modules).items():
        for key, _ in _items(objects, scope):
            if key not in is_name:
                is_name[key] = objects.text(key) == name
            if is_name[key]:
                found.append(module)
                break
    return sorted(found)


def _items(objects: Objects, scope: int) -> Iterator[tuple[int, int]]:
    """(key, value) of a module's dict, up to the first unreadable item."""
    try:
        for key, value, _ in objects.items(scope) if scope else ():
            yield key, value
    except (Unreadable, struct.error):
        return
