"""Draws objects side by side: what follows, their bytes on one ruler, the fields that differ."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Iterator

from inspector.facts.amounts import counted
from inspector.facts.comparison import Change, Comparison, Side, Strided
from inspector.facts.sharing import Pair, PartSharing
from inspector.facts.unknown import Unknown
from inspector.views.amounts import known, size
from inspector.views.answers import sentence
from inspector.views.grammar import Block, Fold, Line, Prose, Span, Table, text
from inspector.views.ruler import Bar, ruler
from inspector.views.view import blocks, view

ROWS_SHOWN = 20
MOST_COLUMNS = 8
"""Columns of a table that are drawn by default."""


@blocks.register
def comparison(fact: Comparison) -> tuple[Block, ...]:
    """The answers; the bars; the columns; then the fields that differ, open only for saved reports."""
    if not fact.right:
        return (*_several(fact),)
    if not fact.sides:
        return (_head(fact), *_changes(fact))
    return (
        *(Prose(sentence(row)) for row in fact.answers),
        *_unanswered(fact),
        *_bars(fact),
        *_columns(fact),
        *_more(fact),
    )


def _unanswered(fact: Comparison) -> Iterator[Block]:
    """What was covered, where it is not known whether bytes are shared."""
    if not isinstance(fact.sharing.overlap, Unknown):
        return
    if fact.sharing.ranges and not fact.sharing.file:
        yield from view(fact.sharing)
    for side in fact.sides if not any(row.certain for row in fact.answers) else ():
        if not isinstance(side.total_blocks, Unknown):
            yield Line(side.name, (Span("looked at"), Span("  "), *known(side.bytes, "size")))


def _bars(fact: Comparison) -> Iterator[Block]:
    """Who owns and who sees which bytes, one bar under the other."""
    root = tuple(_root(fact))
    if isinstance(fact.sharing.overlap, Unknown) or fact.same_object is True:
        return
    if not fact.sharing.overlap and not root:
        return
    left, right = fact.sides
    bars = [*root, _bar(left, 0), _bar(right, fact.sharing.shift_bytes)]
    if all(side.columns == 0 and side.total_blocks == 1 for side in fact.sides):
        yield from ruler(tuple(bars))


def _root(fact: Comparison) -> Iterator[Bar]:
    """The array that both are views of, where neither is it."""
    left, right = fact.sides
    if fact.sharing.file or not left.holders or not right.holders:
        return
    root = left.holders[-1]
    third = root.address not in (left.address, right.address)
    if not third or root.address != right.holders[-1].address or root.owns is not True:
        return
    if not isinstance(root.range, Unknown) and root.range.bytes:
        whole = Strided(root.range.start, (root.range.bytes,), (1,), 1, "", ())
        yield Bar(root.name, (whole,), 0, root.bytes, "owner")


def _bar(side: Side, shift: int) -> Bar:
    role = "owner" if side.owns is True else "view" if side.owns is False else ""
    return Bar(side.name, side.blocks, shift, side.bytes, role)


def _columns(fact: Comparison) -> Iterator[Block]:
    """The columns of a table, where some share."""
    if not fact.parts or fact.sharing.overlap is not True:
        return
    rows = tuple(_column(row) for row in fact.parts)
    shared = sum(row.overlap is True for row in fact.parts)
    words = {side.part_word for side in fact.sides} - {""}
    summary = Line(
        f"{next(iter(words), 'part')}s", (Span(f"{shared:,}"), Span(f"  of {len(rows):,} share", "dim"))
    )
    yield Fold(summary, (Table(("", "", "", ""), rows, right_aligned=(2,)),), shown=MOST_COLUMNS)


def _column(row: PartSharing) -> tuple[tuple[Span, ...], ...]:
    word = {True: "shares", False: "does not"}.get(row.overlap) if isinstance(row.overlap, bool) else "?"
    amount = known(row.overlap_bytes, "size") if row.overlap is not False else ()
    beside = "" if not row.beside or row.beside == (row.part,) else f"with {', '.join(row.beside[:3])}"
    return (text(row.part), text(word or "", "dim"), amount, text(beside, "dim"))


def _more(fact: Comparison) -> Iterator[Block]:
    """The fields that differ: a fold that `--fields` and `--all` open."""
    count = len(fact.changes)
    if not count:
        return
    summary = Line("more", text(f"{counted(count, 'field')} {'differs' if count == 1 else 'differ'}"))
    yield Fold(summary, (_table(fact),), shown=0, more="--fields")


def _head(fact: Comparison) -> Line:
    return Line(
        fact.left,
        (Span("beside  "), Span(fact.right, "name")),
        right=_same(fact.same_object),
        heading=True,
        explain="Two objects, field by field. Fields that agree are left out.",
    )


def _same(same: bool | Unknown) -> tuple[Span, ...]:
    if isinstance(same, Unknown):
        return ()
    return text("the same object") if same else text("two objects")


def _changes(fact: Comparison) -> tuple[Block, ...]:
    if not fact.changes:
        return (Line("differ", text("in no inspected field")),)
    count = len(fact.changes)
    summary = Line("differ", (Span(str(count)), Span(f"  field{'' if count == 1 else 's'}", "dim")))
    return (Fold(summary, (_table(fact),), shown=ROWS_SHOWN),)


def _table(fact: Comparison) -> Table:
    return Table(("column", "field", fact.left, fact.right), tuple(_row(change) for change in fact.changes))


def _row(change: Change) -> tuple[tuple[Span, ...], ...]:
    return (
        text(change.column, "dim"),
        text(change.field or "(all of it)"),
        text(change.left),
        text(change.right),
    )


def _several(fact: Comparison) -> Iterator[Block]:
    """More than two objects: a table with a row and a column for each."""
    yield from (Prose(sentence(row)) for row in fact.answers)
    names = tuple(side.name for side in fact.sides)
    found = {(pair.left, pair.right): pair for pair in fact.pairs}
    rows = []
    for n, side in enumerate(fact.sides):
        cells = [_cell(found.get((side.name, other)) or found.get((other, side.name))) for other in names]
        cells[n] = text("·", "dim")
        amount = text("?", "warn") if isinstance(side.bytes, Unknown) else known(side.bytes, "size")
        rows.append((text(side.name, "name"), amount, *cells))
    columns = ("", "bytes", *names)
    yield Table(columns, tuple(rows), right_aligned=tuple(range(1, len(columns))))


def _cell(pair: Pair | None) -> tuple[Span, ...]:
    if pair is None:
        return text("-", "dim")
    if isinstance(pair.sharing.overlap, Unknown):
        return text("?", "warn")
    if not pair.sharing.overlap:
        return text("-", "dim")
    count = pair.sharing.overlap_bytes
    return text("shares" if isinstance(count, Unknown) else size(count))
