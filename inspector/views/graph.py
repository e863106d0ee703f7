"""Draws the references to and from an object: the path from a root, then a table for each direction."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator

from inspector.facts.graph import Edge, Graph, Step
from inspector.views.grammar import Block, Fold, Line, Span, Table, text
from inspector.views.plain import clipped
from inspector.views.view import blocks

SHOWN = 12
_LONGEST = 44


@blocks.register
def graph(fact: Graph) -> tuple[Block, ...]:
    """Lines: path, held by, holds."""
    path = " → ".join(clipped(step, _LONGEST) for step in fact.path) or "? no path from a root was found"
    return (
        Line("object", (Span(fact.type_name), Span(f"  at {fact.address:#x}", "dim")), verbose=False),
        Line("path", text(path), explain="The shortest path from a module, a frame or a thread to it."),
        *_side("held by", fact.held_by),
        *_side("holds", fact.holds),
    )


def _side(label: str, step: Step) -> Iterator[Block]:
    more = f", {step.left_out:,} more were not inspected" if step.left_out else ""
    rows = tuple(_row(edge) for edge in step.edges)
    head = Line(label, text(str(len(step.edges) + step.left_out)), text(step.says + more, "dim"))
    yield Fold(head, (Table(("", "", ""), rows),), SHOWN) if rows else head


def _row(edge: Edge) -> tuple[tuple[Span, ...], ...]:
    times = f" ×{edge.references:,}" if edge.references > 1 else ""
    sure = "" if edge.certain else "possible  "
    return (
        text(clipped(edge.key, _LONGEST), "name"),
        text(clipped(edge.label, _LONGEST)),
        text(f"{sure}{edge.kind}{times}", "dim"),
    )
