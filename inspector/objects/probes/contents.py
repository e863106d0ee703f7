"""What a container holds: a walk over the objects that it reaches. Runs no user code."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import types
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from inspector import _native
from inspector.adapters.base import type_name
from inspector.adapters.registry import adapter_of
from inspector.facts.amounts import counted
from inspector.facts.unknown import Address
from inspector.objects.classes import full_name
from inspector.objects.ownership.rows import key_text
from inspector.objects.reach.boxes import MOST_SLOTS, Words, boxes
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
    kept_behind,
    piece_of,
    walked,
)

if TYPE_CHECKING:  # imported for a container
    from inspector.facts.contents import Contents, Item

MOST_ASKED: Final = 16
"""Arrays that are asked whether they keep more than their elements."""
MOST_NAMED: Final = 8
"""Items that the fact describes one by one."""
_KEYED: Final = (list, tuple, dict)
_PLAIN: Final = (int, float, complex, str, bytes, bytearray, bool, type(None), dict, list, tuple)
_BYTES: Final = (bytes, bytearray)


def contents(subject: _native.Subject) -> Contents | None:
    """The column `contents`; None if the object is no container, or its bytes are known to an adapter."""
    x = subject.get()
    has_frames = is_exception(type(x)) or type(x) is types.FrameType
    if not (has_frames or is_container(type(x)) or is_finished(x)):
        return None
    from inspector.facts.contents import Contents

    keys: dict[int, list[Any]] = {}
    values: dict[int, _native.Subject] = {}
    for key, value in islice(pairs(x), MOST_PAIRS):
        kind = type(value)
        if kind is int or kind is float or kind is bool or value is None:
            continue  # it keeps nothing, and nobody asks who holds it
        keys.setdefault(id(value), []).append(key)
        values.setdefault(id(value), _native.Subject(value))
    roots = list(values.values())
    if not has_frames:  # they refer to the module's names too, which they do not keep
        roots.append(subject)
    stops = (x.__func__,) if type(x) is types.MethodType else ()  # functions belong to others too
    rows, kinds, complete = walked(roots, stops, once=True)
    held = [one for row in rows for one in row[3]]
    arrays = [one for one in held if not any(type(one) is kind for kind in _BYTES)]
    own = 0 if has_frames else _native.names({"x": subject})[0][4]
    inner = {adapter.library for kind in kinds if has_blocks(kind) and (adapter := adapter_of(kind))}
    opaque = [kind for kind in kinds if is_opaque(kind) and full_name(kind).partition(".")[0] not in inner]
    opaque += [type(one) for one in arrays[:MOST_ASKED] if _is_in_graph(one)]
    inside = max(sum(row[2] for row in rows) - (not has_frames), 0)  # 0 where it is never freed
    if not inside and is_of_c(type(x)):
        return None
    return Contents(
        inside,
        max(sum(row[1] for row in rows) - own, 0) + _payload(held),
        len(arrays),
        _payload(arrays),
        complete,
        tuple(_items(list(values.values()), rows, keys)),
        boxes(x, Words(_what, _key)) if keys and type(x) in _KEYED and len(x) <= MOST_SLOTS else (),
        tuple(dict.fromkeys(map(type_name, opaque)))[:MOST_NAMED],
        _behind(held, [one for row in rows for one in row[4]]),
    )


def _behind(held: list[Any], behind: list[Any]) -> int:
    """Bytes that arrays keep and do not show."""
    shown = [piece_of(block) for block in blocks_of(held)]
    return distinct([*shown, *map(piece_of, kept_behind(held, behind))]) - distinct(shown)


def _payload(arrays: list[Any]) -> int:
    return distinct([piece_of(block) for block in blocks_of(arrays)])


def _items(values: list[_native.Subject], rows: list[Walked], keys: dict[int, list[Any]]) -> Iterator[Item]:
    """The items with most bytes; those of an exact dict, list or tuple, by key or index."""
    from inspector.facts.contents import Item

    weights = [row[1] + (_payload(row[3]) if row[3] else 0) for row in rows[: len(values)]]
    for at in sorted(range(len(values)), key=lambda at: -weights[at])[:MOST_NAMED]:
        one = values[at]
        places = keys[one.address]
        place = places[0] if type(places[0]) is Place else f"[{_key(places[0])}]"
        yield Item(place, _what(one.get()), weights[at], Address(one.address), len(places))


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
