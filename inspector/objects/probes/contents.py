"""What a container holds: a walk over the objects that it reaches. Runs no user code."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import types
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from inspector import _native
from inspector.adapters.base import type_name
from inspector.adapters.registry import adapter_of
from inspector.facts.amounts import counted
from inspector.facts.unknown import Address
from inspector.objects.classes import full_name
from inspector.objects.layouts.overlap import Nested as Piece
from inspector.objects.ownership.rows import key_text
from inspector.objects.reach.boxes import MOST_SLOTS, Words, boxes
from inspector.objects.reach.globals import has_own_names, is_class
from inspector.objects.reach.opaque import is_opaque
from inspector.objects.reach.places import (
    MOST_PAIRS,
    SIZED,
    Place,
    is_container,
    is_exception,
    is_finished,
    is_of_c,
    pairs,
)
from inspector.objects.reach.reached import (
    Walked,
    blocks_of,
    distinct,
    has_blocks,
    is_bytes,
    kept_behind,
    piece_of,
    walked,
)

if TYPE_CHECKING:  # imported for a container
    from inspector.facts.contents import CommonBase, Contents, Item

MOST_ASKED: Final = 16
"""Arrays that are asked whether they keep more than their elements."""
MOST_BASES: Final = MOST_PAIRS
"""Arrays of a container whose base is asked for."""
MOST_STEPS: Final = 8
"""Of a chain of bases."""
MOST_NAMED: Final = 8
"""Items that the fact describes one by one."""
_STEPS: Final = ("base", "_base", "obj")
"""How NumPy, PyTorch and a memoryview name what a view is of."""
_KEYED: Final = (list, tuple, dict)
_PLAIN: Final = (int, float, complex, str, bytes, bytearray, bool, type(None), dict, list, tuple)


def contents(subject: _native.Subject) -> Contents | None:
    """The column `contents`; None if the object is no container, or its bytes are known to an adapter."""
    x = subject.get()
    has_names = has_own_names(x)
    has_frames = is_exception(type(x)) or type(x) is types.FrameType or has_names
    if not (has_frames or is_container(type(x)) or is_finished(x)):
        return None
    from inspector.facts.contents import Contents

    keys: dict[int, list[Any]] = {}
    values: dict[int, _native.Subject] = {}
    for key, value in islice(pairs(x), MOST_PAIRS):
        kind = type(value)
        if kind is int or kind is float or kind is bool or value is None or is_class(value):
            continue  # it keeps nothing that is not also others', and nobody asks who holds it
        keys.setdefault(id(value), []).append(key)
        if value is not x:
            values.setdefault(id(value), _native.Subject(value))
    roots = list(values.values())
    if not has_frames:  # they refer to the module's names too, which they do not keep
        roots.append(subject)
    stops = (x.__func__,) if type(x) is types.MethodType else ()  # functions belong to others too
    rows, kinds, complete = walked(roots, stops, once=True)
    weighed = rows
    if not has_frames and not rows[-1][2]:  # a value leads back to it, and had all that it holds
        weighed, _, _ = walked(roots[:-1], (x, *stops), once=True)
    held, shown = [one for row in rows for one in row[3]], _Shown()
    arrays = [one for one in held if _is_array(type(one))]
    own = 0 if has_frames else _native.names({"x": subject})[0][4]
    inner = {adapter.library for kind in kinds if has_blocks(kind) and (adapter := adapter_of(kind))}
    opaque = [kind for kind in kinds if is_opaque(kind) and full_name(kind).partition(".")[0] not in inner]
    opaque += [type(one) for one in arrays[:MOST_ASKED] if _is_in_graph(one)]
    inside = max(sum(row[2] for row in rows) - (not has_frames), 0)  # 0 where it is never freed
    if not inside and (has_names or is_of_c(type(x))):
        return None
    return Contents(
        inside,
        max(sum(row[1] for row in rows) - own, 0) + shown.bytes(held),
        len(arrays),
        shown.bytes(arrays),
        complete,
        tuple(_items(list(values.values()), weighed, keys, shown)),
        boxes(x, Words(_what, _key)) if keys and _native.exactly(x, *_KEYED) and len(x) <= MOST_SLOTS else (),
        tuple(dict.fromkeys(map(type_name, opaque)))[:MOST_NAMED],
        _behind(held, [one for row in rows for one in row[4]], shown),
        _left_out(x, len(values)),
        tuple(_common_base([one.get() for one in values.values()], arrays)),
    )


def _left_out(x: Any, count: int) -> int:
    """How many of `count` values are not named; of more than are looked at, all places."""
    is_cut = any(type(x) is kind for kind in SIZED) and len(x) > MOST_PAIRS
    return max((len(x) if is_cut else count) - MOST_NAMED, 0) if count else 0


def _common_base(items: list[Any], arrays: list[Any]) -> Iterator[CommonBase]:
    """The one object of which all arrays are views, where the container itself holds all of them."""
    from inspector.facts.contents import CommonBase

    here = {id(one) for one in items}
    if len(arrays) < 2 or len(arrays) > MOST_BASES or not all(id(one) in here for one in arrays):
        return
    bases = {id(base): base for base in map(_base, arrays)}
    base = bases.popitem()[1]
    if bases or all(one is base for one in arrays):
        return
    views = [one for one in arrays if one is not base]
    writable = all(block.readonly is False for block in blocks_of(views))
    yield CommonBase(_what(base), _Shown().bytes([base]), Address(id(base)), len(views), writable)


def _base(x: Any) -> Any:
    """What an array is a view of, at the end of the chain; itself for none."""
    for _ in range(MOST_STEPS):
        adapter = adapter_of(type(x))
        found = dict(adapter.holds(x)) if adapter is not None else {}
        step = next((found[name] for name in _STEPS if name in found), None)
        if step is None:
            break
        x = step
    return x


def _behind(held: list[Any], behind: list[Any], shown: _Shown) -> int:
    """Bytes that arrays keep and do not show."""
    seen = shown.pieces(held)
    return distinct([*seen, *map(piece_of, kept_behind(held, behind))]) - distinct(seen)


class _Shown:
    """The bytes that arrays show; each is asked for its blocks once."""

    def __init__(self) -> None:
        self._known: dict[int, list[Piece]] = {}

    def pieces(self, arrays: Iterable[Any]) -> list[Piece]:
        """Of all of them."""
        return [piece for one in arrays for piece in self._of(one)]

    def bytes(self, arrays: Iterable[Any]) -> int:
        """Of all of them, each byte once."""
        return distinct(self.pieces(arrays))

    def _of(self, one: Any) -> list[Piece]:
        found = self._known.get(id(one))
        if found is None:
            found = self._known[id(one)] = [piece_of(block) for block in blocks_of((one,))]
        return found


def _items(
    values: list[_native.Subject], rows: list[Walked], keys: dict[int, list[Any]], shown: _Shown
) -> Iterator[Item]:
    """The items with most bytes; those of an exact dict, list or tuple, by key or index."""
    from inspector.facts.contents import Item

    weights = [row[1] + (shown.bytes(row[3]) if row[3] else 0) for row in rows[: len(values)]]
    for at in sorted(range(len(values)), key=lambda at: -weights[at])[:MOST_NAMED]:
        one = values[at]
        places = keys[one.address]
        place = places[0] if type(places[0]) is Place else f"[{_key(places[0])}]"
        what, arrays = _what(one.get()), sum(_is_array(type(each)) for each in rows[at][3])
        yield Item(place, what, weights[at], Address(one.address), len(places), arrays=arrays)


def _is_array(kind: type) -> bool:
    return has_blocks(kind) and not is_bytes(kind)


def _key(key: Any) -> str:
    return key_text(_native.Subject(key))


def _what(x: Any) -> str:
    """The type of an item with its shape or its length."""
    kind = type(x)
    name = type_name(kind)
    if any(kind is one for one in SIZED):
        return f"{name} ({counted(len(x), 'item')})"
    adapter = None if any(kind is one for one in _PLAIN) else adapter_of(kind)
    blocks = adapter.elements(x) if adapter is not None else ()
    return f"{name} {blocks[0].format} {blocks[0].shape}" if len(blocks) == 1 else name


def _is_in_graph(x: Any) -> bool:
    """Whether a tensor may keep a graph of what it was computed from, with the tensors saved in it."""
    adapter = adapter_of(type(x))
    told = dict(adapter.names(x)) if adapter is not None else {}
    return told.get("autograd") == "in a graph"
