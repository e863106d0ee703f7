"""Draws what a container holds: objects, bytes, arrays, and the items with most bytes."""

# SPDX-License-Identifier: MIT
from inspector.facts.amounts import counted, size
from inspector.facts.contents import Contents, Item
from inspector.views.boxes import pictured
from inspector.views.grammar import Block, Fold, Line, Span, Table, text
from inspector.views.view import blocks

MOST_ITEMS = 5
LEAST_BYTES = 1_000
"""Items are drawn if one of them has as many bytes, or if the container holds one twice."""


@blocks.register
def contents(fact: Contents) -> tuple[Block, ...]:
    """A line: how many objects it reaches, and their bytes; under it the largest items."""
    least = "" if fact.complete else "more than "
    arrays = f", {size(fact.arrays_bytes)} in {fact.arrays:,} arrays" if fact.arrays else ""
    line = Line(
        "holds",
        (Span(f"{least}{size(fact.bytes)}"), Span(f"  {fact.objects:,} objects{arrays}", "dim")),
        explain="The objects that it reaches, each counted once, without classes, modules and constants.",
        link="docs/reference/card.md#holds",
    )
    return (Fold(line, (_items(fact),), MOST_ITEMS, unlisted=fact.left_out),) if fact.items else (line,)


def largest(fact: Contents) -> tuple[Block, ...]:
    """The items as a drawing, of a long container the largest; nothing where all are small constants."""
    if fact.boxes:
        held = counted(fact.objects, "object")
        weights = {item.address: item.bytes for item in fact.items}
        return (Line("holds", text(held)), pictured(fact.boxes, weights))
    if not any(item.bytes >= LEAST_BYTES or (item.places > 1 and item.bytes) for item in fact.items):
        return ()
    more = text("largest first", "dim") if len(fact.items) > 1 else ()
    held = counted(fact.objects, "object")
    return (Fold(Line("holds", text(held), more), (_items(fact),), MOST_ITEMS, unlisted=fact.left_out),)


def _items(fact: Contents) -> Table:
    return Table(("", "", "", ""), tuple(_row(item) for item in fact.items if item.bytes), (2,))


def _row(item: Item) -> tuple[tuple[Span, ...], ...]:
    said = [Span("also ", "dim"), Span(item.name, "code")] if item.name else []
    if item.places > 1:
        said += [Span(f"{', ' if said else ''}in {item.places:,} places", "dim")]
    return text(item.key, "code"), text(item.what), text(size(item.bytes)), tuple(said)
