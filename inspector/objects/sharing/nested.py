"""Which mutable objects two lists, tuples or dicts both reach, and whether their items are equal."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from itertools import islice
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Final

from inspector import _native
from inspector.facts.comparison import Nested
from inspector.facts.unknown import Unknown
from inspector.objects.classes import type_name

MOST_OBJECTS: Final = 20_000
"""Objects that are looked at in each of the two."""
_KEYED: Final = (list, tuple, dict)
_ATOMS: Final = (int, float, complex, bool, str, bytes, type(None))
"""Types whose exact objects never change and compare without code of a user."""
_CONSTANT: Final = (*_ATOMS, tuple, frozenset, range, FunctionType, BuiltinFunctionType, ModuleType, type)
_WHOLE: Final = (set, bytearray)
"""Types that keep nothing that could be changed by another way than through them."""
_NOT_COMPARED: Final = Unknown("objects of other types are not compared")


def nested(a: _native.Subject, b: _native.Subject, name: str) -> Nested | None:
    """Of two exact lists, tuples or dicts; None of anything else. `name`: the user's name of the first."""
    one, other = a.get(), b.get()
    if not (_is(one, _KEYED) and _is(other, _KEYED)):
        return None
    mine, theirs = _Reached(one, name), _Reached(other, "")
    common = _topmost([path for address, path in mine.mutable.items() if address in theirs.mutable])
    equal, where = _equal(one, other, name)
    inside = dict.fromkeys((*mine.closed, *theirs.closed))
    return Nested(
        tuple(common[:8]), len(common), equal, where,
        mine.is_complete and theirs.is_complete, tuple(inside)[:8],
    )  # fmt: skip


def _topmost(paths: list[str]) -> list[str]:
    """Without those that are reached through another one of them; each follows what it is reached through."""
    kept: list[str] = []
    for path in paths:
        if not any(path.startswith(f"{above}[") for above in kept[-1:]):
            kept.append(path)
    return kept


class _Reached:
    """The mutable objects that a container reaches through lists, tuples and dicts, by address."""

    def __init__(self, root: Any, name: str) -> None:
        self.mutable: dict[int, str] = {}
        self.closed: dict[str, None] = {}
        """Names of types whose objects keep others that were not looked at."""
        waiting, seen = [(name, root)], set[int]()
        while waiting and len(seen) < MOST_OBJECTS:
            path, x = waiting.pop()
            if id(x) in seen or _is(x, _ATOMS):
                continue
            seen.add(id(x))
            if not _is(x, _CONSTANT):
                self.mutable[id(x)] = path
            if _is(x, _KEYED):
                waiting += list(_children(path, x))[::-1]
            elif not _is(x, (*_CONSTANT, *_WHOLE)):
                self.closed[type_name(type(x))] = None
        self.is_complete = not waiting


def _is(x: Any, kinds: tuple[type, ...]) -> bool:
    return any(type(x) is kind for kind in kinds)


def _children(path: str, x: Any) -> Iterator[tuple[str, Any]]:
    pairs = x.items() if type(x) is dict else enumerate(x)
    for key, value in list(islice(pairs, MOST_OBJECTS)):
        yield f"{path}[{_key(key)}]", value


def _key(key: Any) -> str:
    return _native.preview(_native.Subject(key), ()) or f"<{type_name(type(key))}>"


def _equal(one: Any, other: Any, name: str) -> tuple[bool | Unknown, str]:
    """Whether all items are equal, side by side; if not, the path of the first that differs."""
    waiting, left, unknown = [(name, one, other)], MOST_OBJECTS, False
    while waiting and left:
        left -= 1
        path, x, y = waiting.pop()
        if x is y:
            continue
        if _is(x, _ATOMS) and _is(y, _ATOMS):
            if type(x) is not type(y) or x != y:
                return False, path
        elif type(x) is not type(y) or not _is(x, _KEYED):
            unknown = True
        elif len(x) != len(y) or (type(x) is dict and list(map(id, x)) != list(map(id, y))):
            return (False, path) if len(x) != len(y) else (_NOT_COMPARED, "")
        else:
            values = y.values() if type(y) is dict else y
            rows = zip(_children(path, x), values, strict=False)
            waiting += [(below, mine, theirs) for (below, mine), theirs in rows][::-1]
    return (_NOT_COMPARED if unknown or waiting else True), ""
