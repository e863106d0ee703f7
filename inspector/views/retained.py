"""Draws what only one object keeps alive: the total, then by type."""

# SPDX-License-Identifier: MIT
from inspector.facts.refs import Retained
from inspector.facts.unknown import Unknown
from inspector.views.amounts import size
from inspector.views.grammar import Block, Fold, Line, Span, Table, text
from inspector.views.view import blocks

_SHOWN = 6


@blocks.register
def _retained(fact: Retained) -> tuple[Block, ...]:
    others = fact.objects - 1
    alone = "the object itself" if not others else f"the object and {others:,} more"
    kept = fact.retained_bytes
    summary = Line(
        "retained",
        (Span(str(kept) if isinstance(kept, Unknown) else size(kept)), Span(f"  {alone}", "dim")),
        (),
        "Freed with the object's last reference: nothing else keeps it alive.",
        "docs/reference/heap.md#retained",
    )
    never = fact.never_freed_bytes
    lost = tuple[Line, ...]()
    if isinstance(never, int) and never:
        said = Span(f"{size(never)}  a cycle through references that no collection sees", "warn")
        lost = (Line("never freed", (said,), (), "", "docs/reference/heap.md#retained"),)
    if not others:
        return (summary, *lost)
    rows = tuple(
        (text(name), text(f"{objects:,}"), text(size(own_bytes))) for name, objects, own_bytes in fact.by_type
    )
    return (Fold(summary, (Table(("type", "objects", "bytes"), rows, (1, 2)),), _SHOWN), *lost)
