"""Puts the user's names into facts: the owner of a view's bytes is `big`, not "ndarray"."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inspector.facts.unknown import Unknown

if TYPE_CHECKING:
    from inspector.facts.buffer import Buffer
    from inspector.facts.contents import Contents
    from inspector.facts.parts import Part, Parts


def named(facts: Mapping[str, Any], known: Mapping[int, str]) -> dict[str, Any]:
    """The facts with the names of byte owners taken from `known` (address of an object -> its name)."""
    renamed: dict[str, Callable[[Any, Mapping[int, str]], Any]] = {
        "buffer": _buffer,
        "parts": _parts,
        "contents": _contents,
    }
    return {
        column: renamed[column](fact, known) if column in renamed and not isinstance(fact, Unknown) else fact
        for column, fact in facts.items()
    }


def _buffer(buffer: Buffer, known: Mapping[int, str]) -> Buffer:
    if not any(holder.address in known for holder in buffer.holders):
        return buffer
    holders = tuple(replace(holder, name=known.get(holder.address, holder.name)) for holder in buffer.holders)
    return replace(buffer, holders=holders)


def _contents(held: Contents, known: Mapping[int, str]) -> Contents:
    if not any(address in known for address in _addresses(held)):
        return held
    items = tuple(replace(item, name=known.get(item.address, "")) for item in held.items)
    boxes = tuple(replace(box, name=known.get(box.address, "")) for box in held.boxes)
    base = tuple(replace(one, name=known.get(one.address, "")) for one in held.base)
    return replace(held, items=items, boxes=boxes, base=base)


def _addresses(held: Contents) -> Iterator[int]:
    yield from (item.address for item in held.items)
    yield from (box.address for box in held.boxes)
    yield from (base.address for base in held.base)


def _parts(table: Parts, known: Mapping[int, str]) -> Parts:
    return replace(table, parts=tuple(_part(part, known) for part in table.parts))


def _part(part: Part, known: Mapping[int, str]) -> Part:
    if isinstance(part.owner, Unknown):
        return part
    return replace(part, owner_name=known.get(part.owner, part.owner_name))
