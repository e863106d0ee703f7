"""What globals of the user's code hold on a worker, beside the values of its keys."""

# SPDX-License-Identifier: MIT
import gc
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import replace
from types import FunctionType, ModuleType
from typing import Any, Final

from inspector import api
from inspector.facts.cluster import Beside
from inspector.facts.unknown import Unknown

LEAST_BYTES: Final = 1_000_000
MOST: Final = 20
_BY_VALUE: Final = ("__main__", "__mp_main__")
"""Modules of code that is sent by value: of a notebook or a script."""


def beside_keys(worker: str) -> list[Beside]:
    """Globals of 1 MB and more, of modules that were not installed and of functions sent by value."""
    alike: dict[str, list[Beside]] = {}
    for path, names in _user_globals():
        for one in _large(worker, path, names):
            alike.setdefault(one.path, []).append(one)
    return sorted(map(_joined, alike.values()), key=lambda one: -one.bytes)[:MOST]


def _joined(alike: list[Beside]) -> Beside:
    """The same global of functions that were sent once a task: each has a copy of its own."""
    first, copies = alike[0], len(alike)
    if copies == 1:
        return first
    return replace(first, state=f"{copies:,} copies of it", bytes=sum(one.bytes for one in alike))


def _large(worker: str, path: str, names: dict[str, Any]) -> Iterator[Beside]:
    own = {name: value for name, value in names.items() if not name.startswith("__")}
    for row in api.namespace(own, limit=MOST).rows:
        if not isinstance(row.bytes, Unknown) and row.bytes >= LEAST_BYTES:
            yield Beside(worker, path.format(row.name), row.type_name, row.state, row.bytes)


def _user_globals() -> Iterator[tuple[str, dict[str, Any]]]:
    """(how a name in it is written, the dict) of each namespace that the user's code fills."""
    modules = [one for one in list(sys.modules.values()) if type(one) is ModuleType]
    seen = {id(vars(module)) for module in modules}
    for module in modules:
        if _is_of_the_user(module):
            yield f"{module.__name__}.{{}}", vars(module)
    for found in gc.get_objects():
        if type(found) is not FunctionType or found.__module__ not in _BY_VALUE:
            continue
        if id(found.__globals__) not in seen:
            seen.add(id(found.__globals__))
            yield f"{found.__qualname__}.__globals__[{{!r}}]", found.__globals__


def _is_of_the_user(module: ModuleType) -> bool:
    file = getattr(module, "__file__", None) or ""
    if module.__name__ in _BY_VALUE:
        return True
    if module.__name__.partition(".")[0] == "inspector":
        return False
    return bool(file) and not file.startswith(_installed())


def _installed() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return tuple({paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")})
