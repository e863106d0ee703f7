"""Draws the path from a root to an object, one line per reference."""

# SPDX-License-Identifier: MIT
from inspector.facts.chain import Chain
from inspector.facts.refs import Owner
from inspector.views.grammar import Block, Fold, Line, Span, Table, text
from inspector.views.view import blocks

_SHOWN = 12
_DEEPEST = 10
"""Depth from which steps are not indented further."""


@blocks.register
def _chain(fact: Chain) -> tuple[Block, ...]:
    if not fact.found:
        return (Line("chain", text(f"? {fact.searched}", "dim"), (), _MEANING, _LINK),)
    root = fact.owners[0]
    steps = "1 step" if len(fact) == 1 else f"{len(fact):,} steps"
    where = f"its {root.kind}" if root.kind in ("global", "local") else root.kind
    spans = (Span(f"{steps} from {root.holder}"), Span(f"  {where}", "dim"))
    rows = tuple(_row(fact.owners, i) for i in range(len(fact)))
    summary = Line("chain", spans, text(fact.searched, "dim"), _MEANING, _LINK)
    return (Fold(summary, (Table(("", "", ""), rows),), _SHOWN),)


_MEANING = "The shortest path of references that keeps the object alive."
_LINK = "docs/reference/heap.md#chain"


def _row(owners: tuple[Owner, ...], i: int) -> tuple[tuple[Span, ...], ...]:
    indent = "  " * min(i, _DEEPEST)
    last = i + 1 == len(owners)
    held = "the object" if last else owners[i + 1].holder
    key = Span(owners[i].key or "·", "fact")
    return (
        (Span(f"{indent}└ ", "dim"), key),
        text(held, "good" if last else "fact"),
        text(owners[i].kind, "dim"),
    )
