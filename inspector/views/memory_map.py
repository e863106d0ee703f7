"""Draws a namespace as a map: the ranges of its names to scale, region by region; sharing names together."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from itertools import groupby

from inspector.facts.memory_map import MemoryMap
from inspector.facts.namespace import Namespace, Row
from inspector.facts.record import dataclass
from inspector.facts.unknown import Address, Unknown
from inspector.views.amounts import size
from inspector.views.grammar import Block, Line, Picture, Span
from inspector.views.plain import clipped
from inspector.views.view import blocks

NEAR_BYTES = 1 << 14
FAR_BYTES = 1 << 20
"""Gaps up to NEAR_BYTES join two regions, gaps over FAR_BYTES separate them; between, their size decides."""
SCALE_COLUMNS = 40
_NAME_COLUMNS = 14


@dataclass(frozen=True, slots=True)
class Region:
    """A range of address space drawn to one scale."""

    start: Address
    stop: Address
    rows: tuple[Row, ...]

    @property
    def bytes(self) -> int:
        """Length in bytes."""
        return self.stop - self.start


def regions(fact: Namespace) -> tuple[Region, ...]:
    """Names with bytes in memory, by address; names that share stay in one region, the owner first."""
    grouped = groupby(
        sorted((row for row in fact.rows if row.spans), key=_key), lambda row: row.group or row.name
    )
    pieces = sorted((_region(tuple(rows)) for _, rows in grouped), key=lambda region: region.start)
    found: list[Region] = []
    for piece in pieces:
        if found and _is_near(found[-1], piece):
            found[-1] = _region((*found[-1].rows, *piece.rows))
        else:
            found.append(piece)
    return tuple(found)


def _is_near(before: Region, after: Region) -> bool:
    hole = after.start - before.stop
    return hole <= max(NEAR_BYTES, min(FAR_BYTES, max(before.bytes, after.bytes)))


def _key(row: Row) -> tuple[int, str, bool]:
    return (row.group, "" if row.group else row.name, bool(row.shares))


def _region(rows: tuple[Row, ...]) -> Region:
    spans = [span for row in rows for span in row.spans]
    return Region(min(span.start for span in spans), max(span.stop for span in spans), rows)


@blocks.register
def memory_map(shown: MemoryMap) -> tuple[Block, ...]:
    """A picture per region, then the total and the number of names without bytes."""
    fact = shown.names
    drawn = regions(fact)
    made: list[Block] = [block for region in drawn for block in _drawn(region)]
    on_map = sum(len(region.rows) for region in drawn)
    rest = len(fact.rows) - on_map
    words = f"  {rest:,} without bytes of their own to map" if rest else ""
    more = f"  … {fact.left_out:,} more names (--all)" if fact.left_out else ""
    total = (Span(size(fact.total_bytes)), Span(f"  each byte counted once{words}{more}", "dim"))
    return (*made, Line("in all", total, link="docs/reference/views.md#memory-map"))


def _drawn(region: Region) -> Iterator[Block]:
    head = Line("at", (Span(f"{region.start:#x}"), Span(f"  {size(region.bytes)} to scale", "dim")))
    rows = tuple(_bar(row, region) for row in region.rows)
    said = "; ".join(
        clipped(f"{row.name} {_size(row)} {row.shares}".rstrip(), 60) for row in region.rows[:20]
    )
    yield head
    yield Picture(rows, f"from {region.start:#x}, to scale: {said}")


def _bar(row: Row, region: Region) -> tuple[Span, ...]:
    """`big           ████████▏   800 kB`: a bar at its bytes, at least one character wide."""
    cells = [" "] * SCALE_COLUMNS
    sign = "▒" if row.shares else "█"
    for span in row.spans:
        first = (span.start - region.start) * SCALE_COLUMNS // max(region.bytes, 1)
        last = (span.stop - region.start) * SCALE_COLUMNS // max(region.bytes, 1)
        first = min(first, SCALE_COLUMNS - 1)
        cells[first : max(last, first + 1)] = sign * (max(last, first + 1) - first)
    name = clipped(row.name, _NAME_COLUMNS - 1)
    note = clipped(f"  {_size(row)}  {row.shares}".rstrip(), 40)
    return (Span(name.ljust(_NAME_COLUMNS), "name"), Span("".join(cells[:SCALE_COLUMNS])), Span(note, "dim"))


def _size(row: Row) -> str:
    return str(row.bytes) if isinstance(row.bytes, Unknown) else size(row.bytes)
