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

MOST_ITEMS: Final = 5_000
"""Items that are looked at in each of the two."""
MOST_NAMED: Final = 8
_KEYED: Final = frozenset(map(id, (list, tuple, dict)))
"""Types by their addresses: the hash of a class may be a user's code."""
_ATOMS: Final = frozenset(map(id, (int, float, complex, bool, str, bytes, type(None))))
"""Their exact objects never change, and compare without code of a user."""
_CONSTANT: Final = _ATOMS | frozenset(
    map(id, (tuple, frozenset, range, FunctionType, BuiltinFunctionType, ModuleType, type))
)
_WHOLE: Final = frozenset(map(id, (set, bytearray)))
"""Their objects keep nothing that could be changed by another way than through them."""
_NOT_COMPARED: Final = Unknown("objects of other types, and very many items, are not compared")
Steps = tuple[Any, ...]
"""(the steps before, a key or an index); () of the container itself."""


def nested(a: _native.Subject, b: _native.Subject, name: str) -> Nested | None:
    """Of two exact lists, tuples or dicts; None of anything else. `name`: the user's name of the first."""
    one, other = a.get(), b.get()
    if not {id(type(one)), id(type(other))} <= _KEYED:
        return None
    mine, theirs = _Reached(one), _Reached(other)
    common = mine.steps.keys() & theirs.steps.keys()
    top = [steps for at, steps in mine.steps.items() if at in common and not mine.is_below(at, common)]
    equal, first = _equal(one, other)
    closed = tuple(dict.fromkeys((*mine.closed, *theirs.closed)))
    return Nested(
        common=tuple(_path(name, steps) for steps in top[:MOST_NAMED]),
        total=len(top),
        equal=equal,
        first="" if first is None else _path(name, first),
        looked=max(mine.looked, theirs.looked),
        complete=mine.is_complete and theirs.is_complete,
        closed=closed[:MOST_NAMED],
    )


class _Reached:
    """The mutable objects that a container reaches through lists, tuples and dicts, by address."""

    def __init__(self, root: Any) -> None:
        self.steps: dict[int, Steps] = {}
        self._above: dict[int, int] = {}
        """Address -> that of the mutable object through which it is reached; 0 of the container itself."""
        self.closed: dict[str, None] = {}
        """Names of types whose objects keep others that were not looked at."""
        self.looked, self.is_complete = 0, True
        waiting: list[tuple[Any, Steps, int]] = [(root, (), 0)]
        seen = set[int]()
        while waiting:
            x, steps, above = waiting.pop()
            kind = id(type(x))
            if id(x) in seen:
                continue
            seen.add(id(x))
            if kind not in _CONSTANT:
                self.steps[id(x)], self._above[id(x)] = steps, above
                above = id(x)
            if kind in _KEYED:
                waiting += [(value, (steps, key), above) for key, value in self._items(x)][::-1]
            elif kind not in _CONSTANT and kind not in _WHOLE:
                self.closed[type_name(type(x))] = None

    def _items(self, x: Any) -> list[tuple[Any, Any]]:
        """Those that are no atoms, of the first that may still be looked at."""
        rows = list(islice(_pairs(x), MOST_ITEMS - self.looked))
        self.looked += len(rows)
        self.is_complete &= len(rows) == len(x)
        return [row for row in rows if id(type(row[1])) not in _ATOMS]

    def is_below(self, at: int, others: set[int]) -> bool:
        """Whether an object is reached through one of these."""
        while at := self._above[at]:
            if at in others:
                return True
        return False


def _pairs(x: Any) -> Iterator[tuple[Any, Any]]:
    return iter(x.items() if type(x) is dict else enumerate(x))


def _path(name: str, steps: Steps) -> str:
    keys = []
    while steps:
        steps, key = steps
        keys.append(_native.preview(_native.Subject(key), ()) or f"<{type_name(type(key))}>")
    return "".join([name, *(f"[{key}]" for key in reversed(keys))])


def _equal(one: Any, other: Any) -> tuple[bool | Unknown, Steps | None]:
    """Whether all items are equal, side by side; if not, where the first are that differ."""
    waiting: list[tuple[Steps, Any, Any]] = [((), one, other)]
    left, unknown = MOST_ITEMS, False
    while waiting:
        steps, x, y = waiting.pop()
        kinds = {id(type(x)), id(type(y))}
        if x is y:
            continue
        if kinds <= _ATOMS:
            if len(kinds) > 1 or x != y:
                return False, steps
        elif len(kinds) > 1 or not kinds <= _KEYED or not _same_keys(x, y):
            unknown = True
        elif len(x) != len(y):
            return False, steps
        else:
            rows = list(islice(zip(_pairs(x), _pairs(y), strict=False), left))
            left -= len(rows)
            unknown |= len(rows) < len(x)
            waiting += [((steps, key), mine, theirs) for (key, mine), (_, theirs) in rows][::-1]
    return (_NOT_COMPARED if unknown else True), None


def _same_keys(x: Any, y: Any) -> bool:
    """Whether two dicts of one length have the same keys in the same order, by identity."""
    return type(x) is not dict or len(x) != len(y) or all(map(lambda a, b: a is b, x, y))
