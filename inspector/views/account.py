"""Draws the account of a process: a sentence, a row a kind, and the parts of each under a fold."""

# SPDX-License-Identifier: MIT
from typing import Final

from inspector.facts.account import KINDS, Account, AccountPart, AccountRow, LargeObject, brief
from inspector.views.amounts import size
from inspector.views.answers import sentence
from inspector.views.grammar import Block, Fold, Line, Prose, Span, Table, text
from inspector.views.icicle import icicle
from inspector.views.plain import clipped
from inspector.views.view import blocks

_SHOWN: Final = len(KINDS)
_NAMED: Final = 34
"""Cells for the largest parts beside a row."""
_LONGEST: Final = 60
_BAR: Final = 8
_LEAST: Final = 0.05
"""Of a row: a smaller part is not named beside it."""


@blocks.register
def _account(fact: Account) -> tuple[Block, ...]:
    said = tuple(Prose(sentence(row)) for row in fact.answers)
    largest = max((row.resident_bytes for row in fact.rows), default=0)
    rows = tuple(_row(row, largest) for row in fact.rows)
    table = Table(("", "resident", "", "most of it"), rows, (1,))
    return (*said, table, _total(fact), icicle((brief(fact),)), *held(fact.largest), _parts(fact))


def held(largest: tuple[LargeObject, ...]) -> tuple[Block, ...]:
    """The largest objects, with what holds each."""
    if not largest:
        return ()
    rows = tuple(
        (
            text(size(one.resident_bytes)),
            text(clipped(one.type_name, _NAMED)),
            text(clipped(one.path, _LONGEST - _BAR), "code")
            if one.path
            else text("no path from a name", "dim"),
        )
        for one in largest
    )
    return (Table(("largest", "", "held by"), rows, (0,)),)


def _row(row: AccountRow, largest: int) -> tuple[tuple[Span, ...], ...]:
    bar = "█" * round(row.resident_bytes * _BAR / largest) if largest else ""
    return (
        text(KINDS[row.kind], "name"),
        text(size(row.resident_bytes)),
        text(bar, "dim"),
        text(_largest(row), "dim"),
    )


def _largest(row: AccountRow) -> str:
    """The largest parts with their bytes, as many as fit."""
    words = ""
    for part in row.parts:
        one = f"{clipped(part.name, _NAMED - 8)} {size(part.resident_bytes)}"
        if part.resident_bytes < _LEAST * row.resident_bytes or len(words) + len(one) + 2 > _NAMED:
            break
        words += f"{', ' if words else ''}{one}"
    return words or clipped(row.parts[0].name, _NAMED) if len(row.parts) < 2 or words else "many small parts"


def _total(fact: Account) -> Line:
    swapped = f", {size(fact.swapped_bytes)} swapped out" if fact.swapped_bytes else ""
    swapped += f", {size(fact.pooled_bytes)} of huge pages beside" if fact.pooled_bytes else ""
    shared = size(fact.proportional_bytes)
    return Line(
        "in all",
        (Span(size(fact.resident_bytes)), Span(f"  with shared pages in part {shared}{swapped}", "dim")),
        (Span(f"{fact.took_ns / 1e6:,.0f} ms", "dim"),),
        "The sum of all rows is the resident set (Rss); pages that other processes share count whole there.",
        "docs/reference/heap.md#account",
    )


def _parts(fact: Account) -> Fold:
    rows = tuple(
        _part(row.kind if not at else "", part) for row in fact.rows for at, part in enumerate(row.parts)
    )
    table = Table(("", "part", "resident", "count"), rows, (2, 3))
    return Fold(Line("parts", text(f"{len(rows):,}")), (table,), 0)


def _part(kind: str, part: AccountPart) -> tuple[tuple[Span, ...], ...]:
    return (
        text(KINDS.get(kind, "")),
        text(clipped(part.name, _LONGEST)),
        text(size(part.resident_bytes)),
        text(f"{part.count:,}" if part.count else ""),
    )
