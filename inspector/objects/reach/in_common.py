"""What two containers or instances both reach, whose arrays share memory, whether they are equal."""

# SPDX-License-Identifier: MIT
from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any, Final

from inspector import _native
from inspector.adapters.registry import adapter_of
from inspector.facts.comparison import Nested
from inspector.facts.unknown import Unknown
from inspector.objects.classes import type_bases, type_module, type_name, type_namespace
from inspector.objects.layers.values import is_value
from inspector.objects.reach.attributes import (
    READS_ATTRIBUTES,
    STORES,
    Attribute,
    attributes,
    is_open,
    is_whole,
    kept,
)
from inspector.objects.reach.reached import has_blocks
from inspector.objects.sharing.meetings import Blocks, common, every_block, meetings, total_of

MOST_ITEMS: Final = 5_000
"""Items that are looked at in each of the two."""
MOST_NAMED: Final = 8
MOST_ARRAYS: Final = 500
"""Arrays that are compared by their memory, of each of the two."""
_KEYED: Final = frozenset(map(id, (*STORES, SimpleNamespace, partial, FunctionType, MethodType)))
"""Types by their addresses: the hash of a class may be a user's code."""
_ATOMS: Final = frozenset(map(id, (int, float, complex, bool, str, bytes, type(None))))
"""Their exact objects never change, and compare without code of a user."""
_CONSTANT: Final = _ATOMS | frozenset(
    map(id, (tuple, frozenset, range, FunctionType, MethodType, BuiltinFunctionType, ModuleType, type))
)
_WHOLE: Final = frozenset(map(id, (set, bytearray)))
"""Their objects keep nothing that could be changed by another way than through them."""
_CHANGES: Final = _WHOLE | frozenset(map(id, (list, dict, deque)))
_NOT_COMPARED: Final = Unknown("objects of other types, and very many items, are not compared")
Steps = tuple[Any, ...]
"""(the steps before, a key or an index); () of the container itself."""


def nested(a: _native.Subject, b: _native.Subject, names: Sequence[str]) -> Nested | None:
    """Of a container or instance of Python's classes and another, or an array; else None."""
    one, other = a.get(), b.get()
    kinds = (type(one), type(other))
    if not any(map(_is_open, kinds)) or not all(_is_open(kind) or has_blocks(kind) for kind in kinds):
        return None
    mine, theirs = _Reached(one), _Reached(other)
    common = mine.steps.keys() & theirs.steps.keys()
    top = [steps for at, steps in mine.steps.items() if at in common and not mine.is_below(at, common)]
    equal, first = _equal(one, other)
    if all(kind is FunctionType for kind in kinds) and one.__code__ is not other.__code__:
        equal, first = False, ((), Attribute("__code__"))
    sharing = _sharing(mine, theirs)
    closed = tuple(dict.fromkeys((*mine.closed, *theirs.closed)))
    return Nested(
        common=tuple(_path(names[0], steps) for steps in top[:MOST_NAMED]),
        total=len(top),
        equal=equal,
        first="" if first is None else _path(names[0], first),
        looked=max(mine.looked, theirs.looked),
        complete=mine.is_complete and theirs.is_complete,
        closed=closed[:MOST_NAMED],
        sharing=tuple((_path(names[0], left), _path(names[1], right)) for left, right in sharing),
        of_class=tuple(dict.fromkeys(_of_class(one, other)))[:MOST_NAMED],
    )


def _sharing(mine: "_Reached", theirs: "_Reached") -> list[tuple[Steps, Steps]]:
    """Where two different arrays lie that have bytes in common; what cannot be proved counts as closed."""
    rows, found = [*mine.arrays, *theirs.arrays], []
    for (left, right), pairs in meetings([blocks for _, _, blocks in rows]).items():
        if not left < len(mine.arrays) <= right or rows[left][0] == rows[right][0]:
            continue
        bytes_ = [common(*pair) for pair in pairs]
        if any(type(count) is int and count for count in bytes_):
            found.append((rows[left][1], rows[right][1]))
        elif any(isinstance(count, Unknown) for count in bytes_):
            mine.closed[rows[left][2][0].exporter] = None
    return found


def _of_class(one: Any, other: Any) -> Iterator[str]:
    """Attributes of common classes, with values that can change, that neither has for itself."""
    if not all(is_open(type(x)) and id(type(x)) not in _KEYED for x in (one, other)):
        return
    own = {name for x in (one, other) for name, _ in attributes(x)}
    theirs = type_bases(type(other))
    for base in type_bases(type(one)):
        values = type_namespace(base).items() if any(base is each for each in theirs) else ()
        for name, value in values:
            is_public = type(name) is str and name[:1] != "_" and name not in own
            if is_public and (id(type(value)) in _CHANGES or has_blocks(type(value))):
                yield name


class _Reached:
    """The mutable objects that a container reaches through lists, tuples and dicts, by address."""

    def __init__(self, root: Any) -> None:
        self.steps: dict[int, Steps] = {}
        self._above: dict[int, int] = {}
        """Address -> that of the mutable object through which it is reached; 0 of the container itself."""
        self.closed: dict[str, None] = {}
        """Names of types whose objects keep others that were not looked at."""
        self.arrays: list[tuple[int, Steps, Blocks]] = []
        """(address, where it is, its blocks) of those whose bytes are all known."""
        self.looked, self.is_complete = 0, True
        waiting: list[tuple[Any, Steps, int]] = [(root, (), 0)]
        seen, kinds = set[int](), dict[int, tuple[bool, bool]]()
        while waiting:
            x, steps, above = waiting.pop()
            kind = id(type(x))
            if id(x) in seen:
                continue
            seen.add(id(x))
            if kind not in kinds:
                kinds[kind] = (_is_open(type(x)), kind in _CONSTANT or is_value(type(x)))
            opens, is_constant = kinds[kind]
            if not is_constant:
                self.steps[id(x)], self._above[id(x)] = steps, above
                above = id(x)
            if opens and is_whole(x):
                waiting += [(value, (steps, key), above) for key, value in self._items(x)][::-1]
            elif (
                opens or _hides_another(x) or not (kind in _WHOLE or is_constant or self._is_array(x, steps))
            ):
                self.closed[type_name(type(x))] = None

    def _is_array(self, x: Any, steps: Steps) -> bool:
        """Whether all that it keeps are bytes at known addresses; those are noted."""
        adapter, subject = adapter_of(type(x)), _native.Subject(x)
        blocks = every_block(subject) if adapter is not None else ()
        if adapter is None or isinstance(blocks, Unknown) or not blocks or len(self.arrays) == MOST_ARRAYS:
            return False
        self.arrays.append((id(x), steps, blocks))
        is_its_own = adapter.library in ("", type_module(type(x)).partition(".")[0])
        whole = is_its_own and has_blocks(type(x)) and len(blocks) >= total_of(subject, blocks)
        return whole and all(block.numeric for block in blocks)

    def _items(self, x: Any) -> list[tuple[Any, Any]]:
        """Those that are no atoms, of the first that may still be looked at."""
        left = MOST_ITEMS - self.looked
        rows = list(islice(kept(x, left + 1), left + 1))
        self.is_complete &= len(rows) <= left
        rows = rows[:left]
        self.looked += len(rows)
        return [row for row in rows if id(type(row[1])) not in _ATOMS]

    def is_below(self, at: int, others: set[int]) -> bool:
        """Whether an object is reached through one of these."""
        while at := self._above[at]:
            if at in others:
                return True
        return False


def _is_open(kind: type) -> bool:
    """Whether all that its objects keep is found without code of a user."""
    if not READS_ATTRIBUTES or id(kind) not in _KEYED | _CONSTANT | _WHOLE:
        return is_open(kind)
    return id(kind) in _KEYED


def _hides_another(x: Any) -> bool:
    """Whether a set has items that can change, or a bound function of C an object."""
    if type(x) is set or type(x) is frozenset:
        return any(id(type(one)) not in _ATOMS for one in islice(x, MOST_ITEMS)) or len(x) > MOST_ITEMS
    return type(x) is BuiltinFunctionType and id(type(x.__self__)) not in _CONSTANT


def _path(name: str, steps: Steps) -> str:
    keys = []
    while steps:
        steps, key = steps
        text = _native.preview(_native.Subject(key), ()) or f"<{type_name(type(key))}>"
        keys.append(f".{key}" if type(key) is Attribute else f"[{text}]")
    return "".join([name, *reversed(keys)])


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
        elif (
            len(kinds) > 1
            or not (is_whole(x) and is_whole(y))
            or not (id(type(x)) in _KEYED or (_is_open(type(x)) and not steps))
        ):
            unknown = True  # what `==` says of two instances is their class's own code
        else:
            mine, theirs = (list(islice(kept(one, left), left)) for one in (x, y))
            left -= len(mine)
            if len(mine) != len(theirs):
                return False, steps
            unknown |= left <= 0 or not _same_keys(mine, theirs)
            rows = [] if unknown else list(zip(mine, theirs, strict=True))
            waiting += [((steps, key), mine, theirs) for (key, mine), (_, theirs) in rows][::-1]
    return (_NOT_COMPARED if unknown else True), None


def _same_keys(mine: list[tuple[Any, Any]], theirs: list[tuple[Any, Any]]) -> bool:
    """Whether the keys are the same, in the same order; objects by identity: `==` is a user's code."""
    return all(
        a is b or (type(a) is type(b) and _native.exactly(a, int, str, Attribute) and a == b)
        for (a, _), (b, _) in zip(mine, theirs, strict=True)
    )
