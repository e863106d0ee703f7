"""Draws how elements lie in memory: strides, steps, and the grid."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from math import prod

from inspector.facts.layout import Layout, Member
from inspector.facts.unknown import Unknown
from inspector.views.amounts import size
from inspector.views.grammar import Block, Line, Span, Table, text
from inspector.views.grid import grid
from inspector.views.view import blocks

MOST_AXES = 8


@blocks.register
def layout(fact: Layout) -> tuple[Block, ...]:
    """Lines: strides and steps, the grid, the fields of a structured element, the first values."""
    picture = grid(fact)
    return (_strides(fact), *([picture] if picture else []), *_members(fact), *_values(fact))


def _strides(fact: Layout) -> Line:
    words = " · ".join(fact.words) or "strided"
    if not fact.shape:
        return Line("layout", (Span("scalar"), Span(f"  one element of {size(fact.itemsize_bytes)}", "dim")))
    if 0 in fact.shape:
        return Line("layout", (Span("empty"), Span(f"  shape {fact.shape}, no element", "dim")))
    return Line(
        "layout",
        (Span(f"strides {_short(fact.strides_bytes)}"), Span(f"  {_steps(fact.strides_bytes)}", "dim")),
        right=text(words, "dim"),
        explain="A stride is the number of bytes from one element to the next along an axis.",
        link="docs/glossary.md#strides",
    )


def _short(strides: tuple[int, ...]) -> str:
    """As Python prints a tuple; a long tuple is cut in the middle."""
    if len(strides) <= MOST_AXES:
        return str(strides)
    return f"({strides[0]}, {strides[1]}, … {len(strides) - 3} more …, {strides[-1]})"


def _steps(strides: tuple[int, ...]) -> str:
    """Bytes per step to the right and down, along the last two axes."""
    right = f"→ {_signed(strides[-1])} a step"
    return right if len(strides) == 1 else f"{right}, ↓ {_signed(strides[-2])}"


def _signed(stride: int) -> str:
    if abs(stride) < 10_000:  # exact, so that strides can be compared
        return f"{stride} B"
    return size(stride)


def _members(fact: Layout) -> Iterator[Block]:
    if not fact.members:
        return
    rows = [_member(member) for member in fact.members]
    if unused := fact.itemsize_bytes - covered(fact.members):
        rows.append((text("", "dim"), text(f"{unused} B belong to no field", "dim"), text("")))
    yield Line("element", (Span(size(fact.itemsize_bytes)), Span(f"  {fact.format}", "dim")))
    yield Table(("", "", ""), tuple(((Span(" " * 9), *name), format_, at) for name, format_, at in rows))


def _member(member: Member) -> tuple[tuple[Span, ...], tuple[Span, ...], tuple[Span, ...]]:
    return (
        text(member.name),
        text(member.format),
        text(f"+{member.offset_bytes}  {size(member.size_bytes)}", "dim"),
    )


def covered(members: tuple[Member, ...]) -> int:
    """Bytes of an element that belong to some field; overlapping fields are counted once."""
    total = reached = 0
    for start, stop in sorted((m.offset_bytes, m.offset_bytes + m.size_bytes) for m in members):
        total += max(0, stop - max(start, reached))
        reached = max(reached, stop)
    return total


def _values(fact: Layout) -> Iterator[Line]:
    if isinstance(fact.preview, Unknown) or not fact.preview:
        return
    more = "" if prod(fact.shape) == len(fact.preview) else " …"
    yield Line(
        "values", (Span(", ".join(fact.preview) + more),), explain="The first elements, read from memory."
    )
