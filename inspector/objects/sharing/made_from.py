"""Whether the elements of a new value are those of an object: of one block, or of a table's columns."""

# SPDX-License-Identifier: MIT
from dataclasses import replace
from typing import Literal

from inspector import _native
from inspector.adapters.base import Adapter, Column, Elements
from inspector.adapters.registry import adapter_of
from inspector.facts.comparison import Values
from inspector.facts.unknown import Unknown
from inspector.objects.sharing.meetings import blocks_in, total_of
from inspector.objects.sharing.plain import is_plain
from inspector.objects.sharing.table_values import table_values
from inspector.objects.sharing.values import Text, values

MOST_COLUMNS = 16
WHOLE_BYTES = 1 << 20
"""Larger blocks are compared by sample."""
Found = tuple[Literal["equal", "different", ""], bool]
"""(the elements against those of the object; "" where nothing says so, whether all were compared)."""
NOTHING: Found = ("", False)


def made_from(source: _native.Subject, made: _native.Subject) -> Found:
    """Compare a value with an object whose bytes it does not share."""
    adapters = [adapter_of(type(one.get())) for one in (source, made)]
    if adapters[0] is None or adapters[1] is None:
        return NOTHING
    texts = (adapters[0].text, adapters[1].text)
    columns, others = (_columns(adapter, one) for adapter, one in zip(adapters, (source, made), strict=True))
    block = None if others else _only_block(made)
    if columns and others:
        return _said(table_values(columns, others, texts, shown=False))
    if columns and block is not None:
        return _woven(columns, block, texts)
    other = None if columns else _only_block(source)
    return NOTHING if other is None or block is None else _said(_compared(other, block, texts))


def _columns(adapter: Adapter | None, subject: _native.Subject) -> tuple[Column, ...]:
    table = adapter.columns(subject.get(), MOST_COLUMNS) if adapter is not None else None
    return table[0] if table is not None and table[1] <= MOST_COLUMNS else ()


def _only_block(subject: _native.Subject) -> Elements | None:
    """The block of an object that has one, if its bytes are its values."""
    blocks = blocks_in(subject)
    if isinstance(blocks, Unknown) or len(blocks) != 1 or total_of(subject, blocks) != 1:
        return None
    return blocks[0] if is_plain(subject, blocks[0]) else None


def _compared(a: Elements, b: Elements, texts: tuple[Text, Text]) -> Values | Unknown:
    return values(a, b, texts, shown=False, whole_bytes=WHOLE_BYTES)


def _woven(columns: tuple[Column, ...], block: Elements, texts: tuple[Text, Text]) -> Found:
    """Whether each column of a matrix, or a vector, has the elements of a column of the table.

    Where the elements of one column prove it, others may be all alike.
    """
    plain = [one.elements for one in columns if _is_plain(one)]
    parts = _split(block)
    if not plain or not parts or len(parts) > MOST_COLUMNS:
        return NOTHING
    rows = [
        [_chunks(some, part, texts) for some in plain if sum(one.size for one in some) == part.size]
        for part in parts
    ]
    alike = [[one for one in row if not isinstance(one, Unknown) and one.equal] for row in rows]
    found = [[_said(one) for one in row] for row in rows]
    if all(alike) and any(said == "equal" for row in found for said, _ in row):
        return "equal", all(one.compared == one.total for row in alike for one in row)
    known = len(plain) == len(columns) and all(row and all(said for said, _ in row) for row in found)
    return ("different", False) if known else NOTHING


def _is_plain(column: Column) -> bool:
    """Whether a column's numbers are its blocks: one, or chunks that follow each other."""
    chunks = column.elements
    return bool(chunks) and all(
        one.format == column.format and one.protocol == chunks[0].protocol and len(one.shape) == 1
        for one in chunks
    )


def _chunks(chunks: tuple[Elements, ...], part: Elements, texts: tuple[Text, Text]) -> Values | Unknown:
    """A column in chunks against a part of so many elements, chunk by chunk."""
    start, found = 0, []
    for one in chunks:
        address = part.address + start * part.strides_bytes[0]
        found.append(_compared(one, replace(part, address=address, shape=one.shape), texts))
        start += one.size
        if isinstance(found[-1], Unknown) or not found[-1].equal:
            return found[-1]
    known = [one for one in found if not isinstance(one, Unknown)]
    counts = (sum(one.compared for one in known), sum(one.total for one in known))
    varied = any(one.varied for one in known)
    return replace(known[-1], compared=counts[0], total=counts[1], varied=varied)


def _split(block: Elements) -> list[Elements]:
    """The columns of a matrix; a vector as it is."""
    if len(block.shape) < 2:
        return [block] if block.shape else []
    if len(block.shape) > 2:
        return []
    down, step = block.strides_bytes
    count = min(block.shape[1], MOST_COLUMNS + 1)
    first = replace(block, shape=block.shape[:1], strides_bytes=(down,))
    return [replace(first, address=block.address + n * step) for n in range(count)]


def _said(found: Values | Unknown) -> Found:
    if isinstance(found, Unknown) or not (found.varied or not found.equal or found.total == 1):
        return NOTHING
    return ("equal" if found.equal else "different"), found.compared == found.total
