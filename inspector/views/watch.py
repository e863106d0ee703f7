"""Draws watched names, one row each; changed cells are coloured, with the old values in the last column."""

# SPDX-License-Identifier: MIT
from inspector.facts.unknown import Immortal, Unknown
from inspector.facts.watch import Watch, Watched
from inspector.views.amounts import size
from inspector.views.grammar import Block, Line, Span, Table, text
from inspector.views.namespace import here
from inspector.views.view import blocks

_HEADS = ("watch", "type", "bytes", "refs", "state", "here", "was")


@blocks.register
def watch(fact: Watch) -> tuple[Block, ...]:
    """A table of the names; changed cells are marked, the last column has the old values."""
    if not fact.names:
        return (Line("watch", text("no name is watched", "dim")),)
    return (Table(_HEADS, tuple(map(_row, fact.names)), right_aligned=(2, 3, 5)),)


def _row(watched: Watched) -> tuple[tuple[Span, ...], ...]:
    changed = dict(watched.changes)
    was = ", ".join(f"{_said(field, before)}" for field, before in watched.changes)
    last = text(was, "warn")
    name = (Span(watched.name, "warn" if changed else "name"),)
    if isinstance(watched.row, Unknown):
        return (name, text(str(watched.row), "dim"), (), (), (), (), last)
    cells = (
        ("type", watched.row.type_name),
        ("bytes", size(watched.row.bytes) if isinstance(watched.row.bytes, int) else str(watched.row.bytes)),
        ("refs", "∞" if watched.row.references is Immortal else f"{watched.row.references:,}"),
        ("state", watched.row.state),
        ("here", here(watched.row)),
    )
    return (name, *(text(value, "warn" if field in changed else "fact") for field, value in cells), last)


def _said(field: str, before: str) -> str:
    if field == "bytes" and before.isdigit():
        return size(int(before))
    return f"{before} refs" if field == "refs" else before or "none"
