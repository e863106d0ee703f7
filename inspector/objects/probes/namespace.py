"""A namespace as a table: what each name holds, and which names share bytes. Runs no user code.

Adapters report bytes as address ranges; names whose ranges overlap form a group. Every value is inspected
through a Subject that is dropped at once, so no reference outlives the inspection of one name.
"""

# SPDX-License-Identifier: MIT
import collections
import gc
import operator
import types
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from itertools import combinations, groupby, pairwise
from typing import Any

from inspector import _native
from inspector._native import Subject
from inspector.adapters.base import Elements, type_name
from inspector.adapters.registry import adapter_of
from inspector.binaries.mappings import MappingTable
from inspector.facts.memory import Range
from inspector.facts.namespace import Namespace, Row
from inspector.facts.unknown import Address, Immortal, Unknown
from inspector.objects.classes import type_bases
from inspector.objects.layers.glance import glance
from inspector.objects.layers.pages import residency
from inspector.objects.layers.stack import Places
from inspector.objects.layouts.overlap import Nested, TooLong, common_bytes, merged, nested

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
_STEPS_A_NAME = 500
_ITEMS_A_CONTAINER = 1_000
_NEVER_FREED = 500_000_000
"""3.11 gives static objects 999,999,999 references (_PyObject_IMMORTAL_REFCNT, internal/pycore_object.h)."""
_PROOFS = 500
"""Most pairs of strided blocks whose overlap is proved; in others, overlapping extents count as sharing."""
_HAS_GC = 1 << 14
_LENGTH_OF = operator.attrgetter("__len__")
_FLAGS = type.__dict__["__flags__"].__get__


_NameRow = tuple[str, str, int, int | None, int]
"""A row of `_native.names`: name, type, address, references, own bytes."""


@dataclass(frozen=True, slots=True)
class _Look:
    """One name's row and the bytes of its payload."""

    row: Row
    pieces: tuple[Nested, ...]
    own_bytes: int
    owns: bool
    holds: bool
    code: bool
    atom: bool


@dataclass(slots=True)
class _Budget:
    """Steps left for reading inside objects, and the namespace's dict, at which reading stops."""

    namespace: int
    steps: int = 20_000


def namespace(
    mapping: dict[str, Any], *, hidden: Collection[str] = (), limit: int | None = LIMIT
) -> Namespace:
    """The names of `mapping` (an exact dict) except `hidden`: largest first, sharing ones side by side.

    At most `limit` rows, without modules, classes and functions, which are counted in `left_out`. None: all
    rows. `total_bytes` counts each byte of all names once, even if shared.
    """
    places = Places(MappingTable())
    budget = _Budget(id(mapping))
    rows_of = _native.names(mapping)
    looks = [_look(known, mapping, budget) for known in rows_of if known[0] not in hidden]
    found = [look for look in looks if look is not None]
    groups = sorted(_groups(found), key=_heaviest_first)
    rows = [
        row for number, group in zip(_numbered(groups), groups, strict=True) for row in _rows(number, group)
    ]
    if limit is not None:
        rows = rows[: min(limit, sum(not look.code for look in found))]
    total = sum(map(_distinct_bytes, groups))
    pages = residency([_extent(piece) for look in found for piece in look.pieces], 0, places)
    return Namespace(
        tuple(_seen(row, mapping, places) for row in rows[:MOST_GLANCES]) + tuple(rows[MOST_GLANCES:]),
        total,
        len(found) - len(rows),
        pages if isinstance(pages, Unknown) else pages.resident_bytes,
        sum(look.own_bytes + sum(piece.bytes for piece in look.pieces) for look in found) - total,
    )


def _look(known: _NameRow, mapping: dict[str, Any], budget: _Budget) -> _Look | None:
    name, _, _, count, own = known
    try:
        subject = Subject(mapping[name])
    except KeyError:  # deleted meanwhile by another thread
        return None
    kind = type(subject.get())
    adapter = adapter_of(kind)
    blocks = adapter.elements(subject.get()) if adapter else ()
    owns = adapter.owns(subject.get()) if adapter and blocks else True
    held = () if blocks or not _may_hold(kind) else _held(subject, budget)
    pieces = tuple(piece for block in (*blocks, *held) if (piece := _piece(block)).run)
    own = 0 if blocks else own
    row = Row(
        name=name,
        type_name=_title(kind, blocks),
        address=Address(subject.address),
        bytes=own + sum(piece.bytes for piece in pieces),
        references=Immortal if count is None or count >= _NEVER_FREED else count,
        state=_holding(held) if held else _state(subject, blocks, owns),
        group=0,
        shares="",
        spans=tuple(map(_extent, pieces[:SPANS_A_NAME])),
        spans_left_out=max(len(pieces) - SPANS_A_NAME, 0),
    )
    return _Look(row, pieces, own, bool(blocks) and owns is True, bool(held), _is_code(kind), _is_atom(kind))


def _title(kind: type, blocks: tuple[Elements, ...]) -> str:
    """The type's name and, for one block, its element type in the array interface: "ndarray f8"."""
    bare = len(blocks) != 1 or any(kind is one for one in (bytes, bytearray))
    element = "" if bare else blocks[0].typestr.lstrip("<>|=")
    return f"{type_name(kind)} {element}".rstrip()


def _may_hold(kind: type) -> bool:
    """Whether the table searches arrays inside: not in a plain container, which shows its items."""
    plain = any(base is held for base in type_bases(kind) for held in _COUNTED)
    return bool(_FLAGS(kind) & _HAS_GC) and not plain and not _is_code(kind)


def _held(subject: Subject, budget: _Budget) -> tuple[Elements, ...]:
    """Blocks of the arrays in an object's attributes and in containers there, by `tp_traverse` only.

    Stops at modules, types, functions, frames and other namespaces' dicts, at large containers, and when the
    budget is spent.
    """
    found: list[Elements] = []
    seen, queue, steps = {subject.address}, [subject.get()], 0
    while queue and steps < _STEPS_A_NAME and budget.steps > 0:
        steps, budget.steps = steps + 1, budget.steps - 1
        for held in gc.get_referents(queue.pop()):
            if id(held) in seen or _stops(held, budget):
                continue
            seen.add(id(held))
            adapter = adapter_of(type(held))
            blocks = adapter.elements(held) if adapter is not None else ()
            if blocks:
                found += blocks
            elif _FLAGS(type(held)) & _HAS_GC:
                queue.append(held)
    return tuple(found)


def _stops(held: Any, budget: _Budget) -> bool:
    kind = type(held)
    if kind is bytes or _is_code(kind) or id(held) == budget.namespace:
        return True
    base = next((base for base in type_bases(kind) if any(base is one for one in _COUNTED)), None)
    return base is not None and _LENGTH_OF(base)(held) > _ITEMS_A_CONTAINER


def _holding(held: tuple[Elements, ...]) -> str:
    return f"holds {len(held)} array{'' if len(held) == 1 else 's'}"


def _seen(row: Row, mapping: dict[str, Any], places: Places) -> Row:
    """The row with the state of its object, if an adapter reports it."""
    try:
        subject = Subject(mapping[row.name])
    except KeyError:
        return row
    adapter = adapter_of(type(subject.get()))
    if adapter is None:
        return row
    found = glance(subject.get(), adapter, places)
    return replace(row, state=found.state, resident_fraction=found.resident_fraction)


def _extent(piece: Nested) -> Range:
    return Range(Address(piece.start), Address(piece.stop))


def _state(subject: Subject, blocks: tuple[Elements, ...], owns: bool | Unknown) -> str:
    if blocks:
        return "?" if isinstance(owns, Unknown) else "owned" if owns else "view"
    kind = type(subject.get())
    if any(kind is counted for counted in _COUNTED):
        count = len(subject.get())
        return f"{count:,} item{'' if count == 1 else 's'}"
    return ""


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
    """Bytes of a group, each once; twice where two strided views overlap outside all contiguous ones."""
    pieces = {piece for look in group for piece in look.pieces}
    solid = merged([(piece.start, piece.stop) for piece in pieces if not piece.axes])
    strided = (piece.bytes - _covered(piece, solid) for piece in pieces if piece.axes)
    own = {look.row.address: look.own_bytes for look in group}
    return sum(stop - start for start, stop in solid) + sum(strided) + sum(own.values())


def _covered(piece: Nested, solid: list[tuple[int, int]]) -> int:
    meeting = [(start, stop) for start, stop in solid if start < piece.stop and stop > piece.start]
    try:
        return sum(common_bytes(piece, Nested(start, (), stop - start)) for start, stop in meeting)
    except TooLong:
        return 0


def _piece(block: Elements) -> Nested:
    """The bytes of a block; without a nested form its whole extent."""
    found = nested(block.address, block.shape, block.strides_bytes, block.itemsize_bytes)
    return found or Nested(block.range.start, (), block.range.bytes)
