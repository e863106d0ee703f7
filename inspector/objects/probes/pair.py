"""Two objects beside each other: where the bytes of each lie, what they share, column by column."""

# SPDX-License-Identifier: MIT
from collections import OrderedDict
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from inspector import _native
from inspector.adapters.base import Column, Elements
from inspector.adapters.holders import Holder
from inspector.adapters.holders import blocks as blocks_of_array
from inspector.adapters.registry import adapter_of
from inspector.facts.buffer import Holder as Owner
from inspector.facts.comparison import NOT_COMPARED, Side, Strided, Values
from inspector.facts.record import dataclass
from inspector.facts.secret import gives_secret
from inspector.facts.sharing import Pair, PartSharing, Sharing
from inspector.facts.unknown import Address, Unknown
from inspector.objects.classes import type_name
from inspector.objects.reach.in_common import nested
from inspector.objects.sharing import values as equality
from inspector.objects.sharing.items import inside, items
from inspector.objects.sharing.meetings import Blocks, every_block, judged, meetings, total_of
from inspector.objects.sharing.plain import is_plain
from inspector.objects.sharing.table_values import table_values
from inspector.objects.sharing.two import of_laid
from inspector.objects.sharing.writing import writing

MOST_BLOCKS = 64
"""Blocks of an object that the facts list."""
MOST_COLUMNS = 128
"""Columns of a table that are compared one by one."""
FEW_COLUMNS = 16


@dataclass(frozen=True, slots=True)
class Laid:
    """One object, with where its bytes lie: read once."""

    subject: _native.Subject
    blocks: Blocks | Unknown
    table: tuple[Column, ...]
    """The first columns of a table; the named arrays of an object that keeps several, a module's tensors."""
    count: int
    """Of all of them."""
    word: str
    """How one of them is called."""


def laid(subject: _native.Subject) -> Laid:
    """The blocks and columns of an object."""
    x, adapter = subject.get(), adapter_of(type(subject.get()))
    told = adapter.columns(x, MOST_COLUMNS) if adapter is not None else None
    if told is not None:
        columns, count, _ = told
        return Laid(subject, every_block(subject), columns, count, "column" if count else "")
    word, rows = "tensor", list(adapter.pieces(x)) if adapter is not None else []
    if isinstance(adapter, Holder):
        word, rows = "array", [(name, blocks_of_array(array)) for name, array in adapter.held(x)]
        rows = rows if len(rows) > 1 else []
    made = tuple(_array(n, *row) for n, row in enumerate(rows[:MOST_COLUMNS]))
    return Laid(subject, every_block(subject), made, len(rows), word if rows else "")


def _of_dict(one: Laid) -> Laid:
    """A dict of arrays or tensors, as `state_dict()` gives: its items; another object as it was."""
    x = one.subject.get()
    if not any(type(x) is kind for kind in (dict, OrderedDict)) or not 0 < len(x) <= MOST_COLUMNS:
        return one
    rows = []
    for key, value in list(x.items()):
        blocks = every_block(_native.Subject(value))
        if type(key) is not str or isinstance(blocks, Unknown):
            return one
        rows.append((key, blocks))
    made = tuple(_array(n, *row) for n, row in enumerate(rows))
    return Laid(
        one.subject, tuple(block for column in made for block in column.elements), made, len(made), "item"
    )


def _array(number: int, name: str, blocks: Blocks) -> Column:
    return Column(name, blocks[0].format if blocks else "", blocks, number, Unknown("not asked"), 0)


def together(
    names: Sequence[str], subjects: Sequence[_native.Subject], facts: Sequence[Any]
) -> dict[str, Any]:
    """The fields of a Comparison that only all objects together show. `facts`: the columns of each."""
    every = [laid(one) for one in subjects]
    if len(every) > 2:
        return _several(names, every, facts)
    left, right = every
    if isinstance(left.blocks, Unknown) or isinstance(right.blocks, Unknown):
        left, right = every = [_of_dict(left), _of_dict(right)]
    shared = of_laid((left.subject, left.blocks), (right.subject, right.blocks))
    rows = parts((names[0], names[1]), left, right) if shared.overlap is not False else ()
    same = subjects[0].address == subjects[1].address
    owners = [_owners(one) if shared.overlap is not True else () for one in facts]
    found = {
        "sharing": shared,
        "same_object": same,
        "sides": tuple(side(*row, rows) for row in zip(names, every, facts, strict=True)),
        "parts": rows,
        "inside": inside(names, subjects, owners),
    }
    if shared.overlap is True or same:
        return found
    compared = values(left, right, shown=not any(map(gives_secret, names)))
    if isinstance(compared, Unknown) or not compared.equal or compared.what == "objects":
        common = nested(subjects[0], subjects[1], names)
        found |= {} if common is None else {"nested": common}
    return found | {"values": compared}


def _owners(facts: Any) -> Any:
    refs = facts.get("refs")
    return () if refs is None or isinstance(refs, Unknown) else refs.owners


def _several(names: Sequence[str], every: Sequence[Laid], facts: Sequence[Any]) -> dict[str, Any]:
    """More than two objects: each, and every pair with what it shares."""
    boxes = [(name, (one.subject, one.blocks)) for name, one in zip(names, every, strict=True)]
    pairs = (Pair(left, right, of_laid(one, other)) for (left, one), (right, other) in combinations(boxes, 2))
    sides = tuple(side(*row, ()) for row in zip(names, every, facts, strict=True))
    return {"sides": sides, "pairs": tuple(pairs)}


def parts(names: tuple[str, str], a: Laid, b: Laid) -> tuple[PartSharing, ...]:
    """The columns of a table, with the bytes that the other object has of them; () without a table.

    Of two tables the larger one where both are small, else the smaller one.
    """
    counts = [a.count, b.count]
    if not any(counts):
        return ()
    larger = max(counts) <= FEW_COLUMNS
    first = counts[0] and (not counts[1] or (counts[0] >= counts[1] if larger else counts[0] <= counts[1]))
    name, table, other = (names[0], a, b) if first else (names[1], b, a)
    if isinstance(other.blocks, Unknown):
        return ()
    blocks, covered = other.blocks, total_of(other.subject, other.blocks) == len(other.blocks)
    beside = [(column.name, column.elements) for column in other.table]
    return tuple(_row(name, column, blocks, beside, covered) for column in table.table)


def _row(
    table: str, column: Column, other: Blocks, beside: Sequence[tuple[str, Blocks]], covered: bool
) -> PartSharing:
    """One column against all blocks of the other object; then against its columns, for their names."""
    if not column.elements:
        why = Unknown("the address of its bytes is not known")
        return PartSharing(table, column.name, why, why, ())
    found = _met(column.elements, other)
    if found.overlap is False:
        open_ = Unknown("some blocks of the other object have no known address")
        return PartSharing(table, column.name, False if covered else open_, 0 if covered else open_, ())
    names = tuple(name for name, blocks in beside if _met(column.elements, blocks).overlap is True)
    return PartSharing(table, column.name, found.overlap, found.overlap_bytes, names)


def _met(one: Blocks, other: Blocks) -> Sharing:
    return judged(one, other, meetings((one, other)).get((0, 1), []))


def side(name: str, one: Laid, facts: Any, rows: Sequence[PartSharing]) -> Side:
    """One object, from its columns of a report and from its adapter."""
    subject, found, adapter = one.subject, one.blocks, adapter_of(type(one.subject.get()))
    blocks = () if isinstance(found, Unknown) else found
    buffer = facts.get("buffer")
    known = buffer is not None and not isinstance(buffer, Unknown)
    missing = found if isinstance(found, Unknown) else Unknown("it has no bytes of elements")
    shared = {row.part for row in rows if row.table == name and row.overlap is True}
    shared |= {other for row in rows if row.table != name and row.overlap is True for other in row.beside}
    table = tuple(column for column in one.table if column.name in shared)
    holders: tuple[Owner, ...] = buffer.holders if known else ()
    return Side(
        name=name,
        type_name=type_name(type(subject.get())),
        library=adapter.library if adapter is not None else "",
        address=Address(subject.address),
        owns=buffer.owns if known else missing,
        bytes=buffer.logical_bytes if known else missing,
        holders=holders,
        holds_arrays=bool(holders) and holders[0].relation == "values",
        writing=writing(subject, blocks, table),
        blocks=tuple(_strided(block) for block in blocks[:MOST_BLOCKS]),
        total_blocks=found if isinstance(found, Unknown) else total_of(subject, blocks),
        columns=one.count,
        part_word=one.word,
    )


def _strided(block: Elements) -> Strided:
    return Strided(
        Address(block.address), block.shape, block.strides_bytes, block.itemsize_bytes, block.format,
        block.members,
    )  # fmt: skip


def _adapter(one: Laid) -> Any:
    """The adapter of an object, of a dict of arrays that of its first array; None if there is none."""
    x = one.subject.get()
    x = next(iter(x.values())) if one.word == "item" else x
    return adapter_of(type(x))


def values(a: Laid, b: Laid, shown: bool) -> Values | Unknown:
    """Whether two objects of one block each, or two lists, hold equal elements. `shown`: with the values."""
    if not (a.count and b.count) and (found := items(a.subject, b.subject, shown)) is not None:
        return found
    adapters = [_adapter(one) for one in (a, b)]
    if a.count and b.count and adapters[0] is not None and adapters[1] is not None:
        orders = [one.order(box.subject.get()) for one, box in zip(adapters, (a, b), strict=True)]
        if all(orders) and orders[0] != orders[1]:
            return Unknown(f"{' and '.join(orders)} keep their elements in different orders")
        if max(a.count, b.count) > MOST_COLUMNS:
            return Unknown(f"values of at most {MOST_COLUMNS} columns are compared")
        return table_values(a.table, b.table, (adapters[0].text, adapters[1].text), shown)
    known, texts = [], []
    for one, adapter in zip((a, b), adapters, strict=True):
        subject, blocks = one.subject, one.blocks
        if isinstance(blocks, Unknown) or adapter is None:
            return NOT_COMPARED if adapter is None else Unknown("it lays no bytes open")
        if len(blocks) != 1 or total_of(subject, blocks) != 1:
            return Unknown("values of objects with one block are compared, not of several")
        if not is_plain(subject, blocks[0]):
            return Unknown(f"the bytes of {type_name(type(subject.get()))} are not compared as values")
        known.append(blocks[0])
        texts.append(adapter.text)
    return equality.values(known[0], known[1], (texts[0], texts[1]), shown)
