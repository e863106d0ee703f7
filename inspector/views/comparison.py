"""Draws two objects side by side: what they share, then every field that differs."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from inspector.facts.comparison import Change, Comparison
from inspector.facts.unknown import Unknown
from inspector.views.grammar import Block, Fold, Line, Span, Table, text
from inspector.views.view import blocks, view

ROWS_SHOWN = 20


@blocks.register
def comparison(fact: Comparison) -> tuple[Block, ...]:
    """A headline with both names and whether they are one object; then sharing; then the differing fields."""
    head = Line(
        fact.left,
        (Span("beside  "), Span(fact.right, "name")),
        right=_same(fact.same_object),
        heading=True,
        explain="Two objects, field by field. Fields that agree are left out.",
    )
    sharing = () if isinstance(fact.same_object, Unknown) else view(fact.sharing)
    return (head, *sharing, *_changes(fact))


def _same(same: bool | Unknown) -> tuple[Span, ...]:
    if isinstance(same, Unknown):
        return ()
    return text("the same object") if same else text("two objects")


def _changes(fact: Comparison) -> tuple[Block, ...]:
    if not fact.changes:
        return (Line("differ", text("in no inspected field")),)
    count = len(fact.changes)
    table = Table(("column", "field", fact.left, fact.right), tuple(_row(change) for change in fact.changes))
    summary = Line("differ", (Span(str(count)), Span(f"  field{'' if count == 1 else 's'}", "dim")))
    return (Fold(summary, (table,), shown=ROWS_SHOWN),)


def _row(change: Change) -> tuple[tuple[Span, ...], ...]:
    return (
        text(change.column, "dim"),
        text(change.field or "(all of it)"),
        text(change.left),
        text(change.right),
    )


def _sample() -> Comparison:
    from inspector.facts.sharing import Sharing

    saved = Unknown("two saved reports")
    changes = (
        Change("refs", "references", "2", "3"),
        Change("layout", "strides_bytes", "(24, 8)", "(8, 24)"),
        Change("buffer", "owns", "True", "False"),
    )
    return Comparison("x", "y", saved, changes, Sharing(saved, saved, ()))


if __name__ == "__main__":
    from inspector.views.sample import draw

    draw(comparison(_sample()))
