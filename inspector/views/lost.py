"""Draws lost objects: a sentence each, then a table of them by how they were lost."""

# SPDX-License-Identifier: MIT
from inspector.facts.lost import Lost, LostObject
from inspector.facts.nothing import Nothing
from inspector.views.amounts import size
from inspector.views.answers import sentence
from inspector.views.grammar import Block, Line, Prose, Span, Table, nothing, text
from inspector.views.plain import clipped
from inspector.views.view import blocks

PAGE = "docs/reference/leaks.md#lost"
_NAMED = 30


@blocks.register
def _lost(fact: Lost) -> tuple[Block, ...]:
    said = tuple(Prose(sentence(row)) for row in fact.answers)
    if not fact.rows:
        return (
            Line(
                "lost", nothing(Nothing(f"{size(fact.searched_bytes)} of memory", "")), _took(fact), link=PAGE
            ),
            *_garbage(fact),
        )
    table = Table(("lost", "objects", "keeps", "because of"), tuple(map(_row, fact.rows)), (1, 2))
    return (*said, table, Line("in all", _sum(fact), _cost(fact), link=PAGE), *_garbage(fact))


def _row(row: LostObject) -> tuple[tuple[Span, ...], ...]:
    why = f"{row.cause}: {row.holder}, {row.where}" if row.holder else row.cause
    return (
        text(clipped(row.type_name, _NAMED), "name"),
        text(f"{row.objects:,}"),
        text(size(row.kept_bytes)),
        text(why.replace("`", "")),
    )


def _sum(fact: Lost) -> tuple[Span, ...]:
    more = f"; {fact.more:,} more lost objects are in no row" if fact.more else ""
    return text(f"{fact.objects:,} objects, {size(fact.bytes)}{more}")


def _cost(fact: Lost) -> tuple[Span, ...]:
    return (*text(f"{size(fact.searched_bytes)} searched", "dim"), *_took(fact))


def _took(fact: Lost) -> tuple[Span, ...]:
    return text(f" in {fact.took_ns / 1e6:,.0f} ms", "dim")


def _garbage(fact: Lost) -> tuple[Line, ...]:
    if not fact.garbage:
        return ()
    return (Line("garbage", text(f"{fact.garbage:,} objects, which the next collection frees", "dim")),)
