"""The columns of a table one by one, up to a limit, so the cost is bounded."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from inspector import _native
from inspector.adapters.base import Column
from inspector.adapters.registry import adapter_of
from inspector.facts.unknown import Address, Unknown

if TYPE_CHECKING:  # imported for a table
    from inspector.facts.parts import Part, Parts

MOST_COLUMNS = 40


def parts(subject: _native.Subject) -> Parts | None:
    """The column `parts`; None unless the object is a table."""
    adapter = adapter_of(type(subject.get()))
    told = adapter.columns(subject.get(), MOST_COLUMNS) if adapter is not None else None
    if told is None:
        return None
    from inspector.facts.parts import Parts

    columns, total, blocks = told
    return Parts(tuple(map(_part, columns)), total, blocks, *_rows(columns))


def _rows(columns: Sequence[Column]) -> Iterator[int]:
    """The number of rows, by the first column that is one strided block; nothing if there is none."""
    alone = (column.elements[0].shape for column in columns if len(column.elements) == 1)
    yield from (shape[0] for shape in islice((shape for shape in alone if len(shape) == 1), 1))


def _part(column: Column) -> Part:
    from inspector.facts.parts import Part

    nowhere = Unknown("no adapter knows where its bytes are")
    found = column.elements
    alone = len(found) == 1 and len(found[0].strides_bytes) == 1
    return Part(
        name=column.name,
        format=column.format,
        bytes=sum(block.size * block.itemsize_bytes for block in found) if found else nowhere,
        step_bytes=found[0].strides_bytes[0] if alone else Unknown("not one strided block"),
        block=column.block,
        holders=column.holders,
        owner=Address(column.owner) if column.owner else nowhere,
        owner_name="",
    )
