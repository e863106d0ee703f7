"""A namespace as a table: what each name holds, and which names share bytes. Runs no user code.

Adapters report bytes as address ranges; names whose ranges overlap form a group. Every value is inspected
through a Subject that is dropped at once, so no reference outlives the inspection of one name.
"""

# SPDX-License-Identifier: MIT
import collections
import types
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, groupby, pairwise
from typing import Any

from inspector import _native
from inspector._native import Subject
from inspector.adapters.base import Elements
from inspector.adapters.registry import adapter_of
from inspector.binaries.mappings import MappingTable
from inspector.facts.memory import Range
from inspector.facts.namespace import Namespace, Row
from inspector.facts.unknown import Address, Immortal, ImmortalType, Unknown
from inspector.objects.classes import type_bases
from inspector.objects.layers.glance import glance
from inspector.objects.layers.pages import residency
from inspector.objects.layers.stack import Places
from inspector.objects.layouts.overlap import Nested, TooLong, common_bytes
from inspector.objects.reach import kept
from inspector.objects.reach.reached import Reached, distinct, piece_of, reached

LIMIT = 30
"""Names shown; the rest is only counted."""

_COUNTED = (list, dict, set, frozenset, tuple, collections.deque)
_ATOMS = (int, float, complex, bool, str, bytes, type(None))
"""Types whose values many names share by accident: not worth a bracket."""
_CODE = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.FrameType,
    types.CodeType,
)
MOST_GLANCES = 500
"""Rows whose state is determined; others show owned or view, as the adapter reports."""
SPANS_A_NAME = 16
"""Most blocks of a name whose ranges a row shows."""
LEAST_BYTES = 100_000
"""A function or class that keeps fewer bytes is only counted."""
_NEVER_FREED = 500_000_000
"""3.11 gives static objects 999,999,999 references (_PyObject_IMMORTAL_REFCNT, internal/pycore_object.h)."""
_PROOFS = 500
"""Most pairs of strided blocks whose overlap is proved; in others, overlapping extents count as sharing."""

_NameRow = tuple[str, str, int, int | None, int]
"""A row of `_native.names`: name, type, address, references, own bytes."""


@dataclass(frozen=True, slots=True)
class _Look:
    """One name's row and the bytes of its payload."""

    row: Row
    pieces: tuple[Nested, ...]
    bytes: int
    fresh_bytes: int
    """Own bytes of its objects, without those that a name before it reaches."""
    owns: bool
    holds: bool
    code: bool
    atom: bool


def namespace(
    mapping: dict[str, Any],
    hidden: Collection[str] = (),
    limit: int | None = LIMIT,
    history: Mapping[str, tuple[Any, str]] | None = None,
    modules: bool = False,
    stops: tuple[Any, ...] = (),
) -> Namespace:
    """The names of `mapping` (an exact dict) except `hidden`: largest first, sharing ones side by side.

    At most `limit` rows, without modules, classes and functions, which are counted in `left_out`. None: all
    rows. `total_bytes` counts each byte of all names once, even if shared. `history`: place -> (an object
    that IPython keeps, what lets it go); with it, the fact tells what is kept beyond the names; with
    `modules` also by globals of the user's. `stops`: objects that are not the user's.
    """
    places = Places(MappingTable())
    all_of = [(row, _box(mapping, row[0])) for row in _native.names(mapping) if row[0] not in hidden]
    rows_of = [row for row, box in all_of if box is not None]
    named = [box for _, box in all_of if box is not None]
    del all_of
    besides = [] if history is None else [*kept.roots(history, modules)]
    held, complete = reached([*named, *(one.subject for one in besides)], (mapping, *stops))
    found = [_look(*one) for one in zip(rows_of, named, held[: len(named)], strict=True)]
    rows, total = _shown(found, limit)
    pieces = [piece for look in found for piece in look.pieces]
    pages = residency(list(map(_extent, pieces)), 0, places)
    fact = Namespace(
        tuple(_seen(row, mapping, places) for row in rows[:MOST_GLANCES]) + tuple(rows[MOST_GLANCES:]),
        total,
        len(found) - len(rows),
        pages if isinstance(pages, Unknown) else pages.resident_bytes,
        sum(look.bytes for look in found) - total,
        complete=complete,
    )
    if history is None:
        return fact
    more = [*zip(besides, held[len(named) :], strict=True), *_behind(rows_of, named, held)]
    return kept.with_kept(fact, pieces, sum(look.fresh_bytes for look in found), more)


def _behind(
    rows: list[_NameRow], named: list[Subject], held: list[Reached]
) -> Iterator[tuple[kept.Root, Reached]]:
    """What arrays and tables of the names keep without showing it: the rest of a base, an index."""
    for (name, *_), subject, of in zip(rows, named, held, strict=False):
        if of.behind:
            why = f"kept by {name}, which does not show it"
            yield kept.Root(subject, name, "base", why), Reached(0, 0, (), 0, of.behind)


def _shown(found: list[_Look], limit: int | None) -> tuple[list[Row], int]:
    """(the rows, sharing ones side by side; bytes of all names, each once)."""
    groups = sorted(_groups(found), key=_heaviest_first)
    rows = [
        row for number, group in zip(_numbered(groups), groups, strict=True) for row in _rows(number, group)
    ]
    if limit is not None:
        rows = rows[: min(limit, sum(not look.code for look in found))]
    return rows, sum(map(_distinct_bytes, groups))


def _look(known: _NameRow, subject: Subject, of: Reached) -> _Look:
    name, _, _, count, own = known
    kind = type(subject.get())
    adapter = adapter_of(kind)
    blocks = adapter.elements(subject.get()) if adapter else ()
    owns = adapter.owns(subject.get()) if adapter and blocks else True
    pieces = tuple(piece for block in blocks or of.blocks if (piece := piece_of(block)).run)
    if blocks and all(block.numeric for block in blocks):
        own, fresh = 0, 0
    elif of.own_bytes:
        own, fresh = of.own_bytes, of.fresh_bytes
    else:  # a module, an immortal object: the walk ends there
        fresh = own
    size = own + distinct(pieces)
    row = Row(
        name=name,
        type_name=kept.title(kind, blocks),
        address=Address(subject.address),
        bytes=size,
        references=_references(count),
        state=_state(subject, blocks, owns, of.arrays),
        group=0,
        shares="",
        spans=tuple(map(_extent, pieces[:SPANS_A_NAME])),
        spans_left_out=max(len(pieces) - SPANS_A_NAME, 0),
    )
    owner, holds = bool(blocks) and owns is True, bool(of.blocks) and not blocks
    return _Look(
        row, pieces, size, fresh, owner, holds, _is_code(kind) and size < LEAST_BYTES, _is_atom(kind)
    )


def _box(mapping: dict[str, Any], name: str) -> Subject | None:
    """The value of a name; None where another thread has taken the name away."""
    try:
        return Subject(mapping[name])
    except KeyError:
        return None


def _references(count: int | None) -> int | ImmortalType | Unknown:
    if count is None or count >= _NEVER_FREED:
        return Immortal
    return count if count >= 0 else Unknown("deferred: references from running code are not counted")


def _seen(row: Row, mapping: dict[str, Any], places: Places) -> Row:
    """The row with the state of its object, if an adapter reports it."""
    subject = _box(mapping, row.name)
    adapter = None if subject is None else adapter_of(type(subject.get()))
    if subject is None or adapter is None:
        return row
    found = glance(subject.get(), adapter, places)
    return replace(row, state=found.state, resident_fraction=found.resident_fraction)


def _extent(piece: Nested) -> Range:
    return Range(Address(piece.start), Address(piece.stop))


def _state(subject: Subject, blocks: tuple[Elements, ...], owns: bool | Unknown, arrays: int) -> str:
    if blocks:
        return "?" if isinstance(owns, Unknown) else "owned" if owns else "view"
    kind = type(subject.get())
    if any(kind is counted for counted in _COUNTED):
        count = len(subject.get())
        return f"{count:,} item{'' if count == 1 else 's'}"
    return f"holds {arrays:,} array{'' if arrays == 1 else 's'}" if arrays else ""


def _is_atom(kind: type) -> bool:
    return any(kind is atom for atom in _ATOMS)


def _is_code(kind: type) -> bool:
    """Whether it is a module, class or function: frequent in notebooks and rarely of interest by size."""
    return any(base is code for base in type_bases(kind) for code in _CODE)


def _groups(looks: list[_Look]) -> list[list[_Look]]:
    """Groups of names that share bytes, or are the same object; the owner first."""
    parents = list(range(len(looks)))

    def root(i: int) -> int:
        while parents[i] != i:
            parents[i] = parents[parents[i]]
            i = parents[i]
        return i

    for a, b in (*_overlaps(looks), *_same(looks)):
        parents[root(a)] = root(b)
    members: dict[int, list[_Look]] = {}
    for i, look in enumerate(looks):
        members.setdefault(root(i), []).append(look)
    return [sorted(group, key=_owner_first) for group in members.values()]


def _heaviest_first(group: list[_Look]) -> tuple[bool, int, str]:
    return (all(look.code for look in group), -_distinct_bytes(group), group[0].row.name)


def _overlaps(looks: list[_Look]) -> Iterable[tuple[int, int]]:
    """Pairs of names that share bytes, enough to connect all that do."""
    pieces = [(piece.start, piece.stop, i, piece) for i, look in enumerate(looks) for piece in look.pieces]
    cluster: list[tuple[int, Nested]] = []
    furthest, proofs = 0, _PROOFS
    for start, stop, i, piece in sorted(pieces, key=lambda entry: entry[:3]):
        if start >= furthest:
            yield from _links(cluster, proofs)
            proofs -= len(cluster) ** 2 // 2
            cluster = []
        cluster.append((i, piece))
        furthest = max(furthest, stop)
    yield from _links(cluster, proofs)


def _links(cluster: list[tuple[int, Nested]], proofs: int) -> Iterable[tuple[int, int]]:
    """Pairs in a run of overlapping extents: contiguous ones overlap neighbours, strided ones are proved."""
    if any(piece.axes for _, piece in cluster) and len(cluster) ** 2 // 2 <= proofs:
        for (i, a), (j, b) in combinations(cluster, 2):
            if i != j and _meet(a, b):
                yield i, j
    else:
        yield from pairwise(i for i, _ in cluster)


def _meet(a: Nested, b: Nested) -> bool:
    try:
        return common_bytes(a, b) > 0
    except TooLong:  # not decided: shown together
        return True


def _same(looks: list[_Look]) -> Iterable[tuple[int, int]]:
    order = sorted((look.row.address, i) for i, look in enumerate(looks) if not look.atom and not look.code)
    for _, run in groupby(order, key=lambda entry: entry[0]):
        same = [i for _, i in run]
        yield from pairwise(same)


def _owner_first(look: _Look) -> tuple[bool, int, str]:
    size = look.row.bytes
    return (not look.owns, 0 if isinstance(size, Unknown) else -size, look.row.name)


def _numbered(groups: list[list[_Look]]) -> Iterable[int]:
    """1, 2, ... for groups of several names, 0 for a single name."""
    number = 0
    for group in groups:
        number += len(group) > 1
        yield number if len(group) > 1 else 0


def _rows(number: int, group: list[_Look]) -> Iterable[Row]:
    owner = group[0]
    yield replace(owner.row, group=number)
    for look in group[1:]:
        same = look.row.address == owner.row.address
        word = "is" if same else "holds" if look.holds else "of"
        shares = f"{word if same or owner.owns else 'with'} {owner.row.name}"
        yield replace(look.row, group=number, shares=shares)


def _distinct_bytes(group: list[_Look]) -> int:
    pieces = [piece for look in group for piece in look.pieces]
    return distinct(pieces) + sum(look.fresh_bytes for look in group)
