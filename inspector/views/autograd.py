"""Draws the graph that a result keeps: nodes, bytes, and the tensors that were saved."""

# SPDX-License-Identifier: MIT
from inspector.facts.amounts import counted, size
from inspector.facts.autograd import Autograd, SavedTensor
from inspector.facts.unknown import Unknown
from inspector.views.grammar import Block, Fold, Line, Span, Table, text
from inspector.views.view import blocks

_SHOWN = 4


@blocks.register
def autograd(fact: Autograd) -> tuple[Block, ...]:
    """A line: nodes and bytes; under it what was saved, from the result on."""
    nodes = str(fact.nodes) if isinstance(fact.nodes, Unknown) else counted(fact.nodes, "node")
    line = Line(
        "graph",
        (Span(nodes), Span(f"  {_saved(fact)}", "dim")),
        explain="What backward() needs: it stays until the tensor goes, or until backward() has used it.",
        link="docs/reference/card.md#graph",
    )
    rows = tuple(map(_row, fact.saved))
    if fact.saved_left_out:
        rows += ((text(f"… {counted(fact.saved_left_out, 'tensor')} more", "dim"),),)
    return (Fold(line, (Table(("", "", "", ""), rows, (2,)),), _SHOWN),) if rows else (line,)


def _saved(fact: Autograd) -> str:
    freed = f"{counted(fact.freed, 'node')} freed by backward()" if fact.freed else ""
    if isinstance(fact.saved_bytes, Unknown):
        return f"bytes: {fact.saved_bytes}"
    return f"{size(fact.saved_bytes)} saved{', ' if freed else ''}{freed}"


def _row(one: SavedTensor) -> tuple[tuple[Span, ...], ...]:
    return text(one.node, "code"), text(one.what), text(size(one.bytes)), text(one.again, "dim")
