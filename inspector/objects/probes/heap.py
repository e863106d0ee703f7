"""The heap now: a census by type, and a snapshot of census, names and resident memory."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import gc
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inspector import _native
from inspector.errors import no_plain_dict
from inspector.facts.account import Account, AccountPart, AccountRow
from inspector.facts.answers import Answer
from inspector.facts.heap import MORE, Heap, Held, NameChange, Snapshot, TypeChange, TypeCount, by_name
from inspector.facts.unknown import Unknown
from inspector.objects.layers.pages import resident_bytes

if TYPE_CHECKING:
    from inspector.objects.reach.reached import Reached

_OURS: tuple[type, ...] = (
    *(Account, AccountPart, AccountRow, Answer, _native.Subject, Unknown),
    *(Heap, Held, NameChange, Snapshot, TypeChange, TypeCount),
)
MOST_BLOCKS = 16
MOST_OWN_BYTES = 4_000
"""Of a name that is nothing but its blocks: a Series, two views in a list, but not with a long text there."""
if gc.isenabled():
    gc.collect(1)  # `slots=True` makes each class of a fact twice: the first ones would go between two walks
_Row = tuple[str, str, int, int | None, int]
"""A row of `_native.names`."""
_NOT_ASKED = Unknown("not asked: `heap(retained=N)` finds it for the N heaviest types")


def heap(retained: int = 0) -> Heap:
    """Count the live objects by type, with their own bytes; most bytes first.

    Counted: every object in the gc's lists, and every object those refer to (strings, numbers, code ...).
    Not counted: objects that only C code holds, and the tool's own facts. Types of one name share a row.
    `retained`: for how many types, largest first, the retained bytes are computed.
    """
    rows, _, walk_ns, _ = _native.census(_OURS)
    heaviest = by_name(rows)
    asked = tuple(name for name, _, _ in heaviest[:retained])
    kept = dict(zip(asked, _native.retained_by_types(asked, _OURS), strict=True)) if asked else {}
    types = tuple(TypeCount(name, count, size, kept.get(name, _NOT_ASKED)) for name, count, size in heaviest)
    return Heap(sum(t.objects for t in types), sum(t.bytes for t in types), types, walk_ns)


def snapshot(names: Mapping[str, Any]) -> Snapshot:
    """The heap and the names of a namespace now.

    `names` is a namespace itself (an exact dict: its references count as the user's own) or a dict of
    name -> Subject, whose own reference is subtracted. Names that are not strings are left out.
    """
    if type(names) is not dict:
        raise no_plain_dict(f"cannot take a snapshot of a {type(names).__name__}", "snapshot(dict(names))")
    bare = Snapshot(Heap(0, 0, (), 0), *_names(names))
    return replace(bare, heap=heap())  # last: the census leaves out what a fact alone holds


def _names(names: dict[str, Any]) -> tuple[tuple[Held, ...], int | Unknown, bool, int]:
    """(what each name holds, the resident memory, whether that is all that they reach, its bytes)."""
    if not names:
        return (), resident_bytes(), True, 0
    from inspector.objects.reach.kept import more_behind  # the adapters with it
    from inspector.objects.reach.reached import distinct, piece_of, reached

    rows = _native.names(names)
    subjects = [x if type(x := names[row[0]]) is _native.Subject else _native.Subject(x) for row in rows]
    found, complete = reached(subjects, (names,))
    behind = more_behind(found)
    held = tuple(_held(*one) for one in zip(rows, found, behind, strict=True))
    named = distinct([piece_of(block) for of in found for block in of.blocks])
    named += sum(of.fresh_bytes for of in found) + sum(behind)
    return held, resident_bytes(), complete, named


def _held(row: _Row, of: Reached, behind_bytes: int) -> Held:
    name, type_name, address, references, _ = row
    count = Unknown("immortal: its count has no meaning") if references is None else references
    blocks = of.blocks if len(of.blocks) <= MOST_BLOCKS else ()
    where = " ".join(f"{b.range.start:x}-{b.range.stop:x}" for b in blocks)
    where = where if of.own_bytes <= MOST_OWN_BYTES else f"{MORE}{where}"
    held = (of.bytes or row[4]) + behind_bytes
    return Held(name, type_name, f"{address:#x} {type_name}", count, held, where)
