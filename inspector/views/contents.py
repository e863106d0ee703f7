"""Draws what a container holds: objects, bytes, arrays."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from inspector.facts.amounts import size
from inspector.facts.contents import Contents
from inspector.views.grammar import Block, Line, Span
from inspector.views.view import blocks


@blocks.register
def contents(fact: Contents) -> tuple[Block, ...]:
    """One line: how many objects it reaches, and their bytes."""
    least = "" if fact.complete else "at least "
    arrays = f", {size(fact.arrays_bytes)} in {fact.arrays:,} arrays" if fact.arrays else ""
    return (
        Line(
            "holds",
            (Span(f"{least}{size(fact.bytes)}"), Span(f"  {fact.objects:,} objects{arrays}", "dim")),
            explain="The objects that it reaches, each counted once, without classes, modules and constants.",
        ),
    )


def _sample() -> Contents:
    return Contents(4, 24_000_448, 3, 24_000_000, True)


if __name__ == "__main__":
    from inspector.views.sample import draw

    draw(contents(_sample()))
