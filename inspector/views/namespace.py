"""Draws a namespace as a table: a bracket joins names that share bytes; every byte is counted once."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from inspector.facts.namespace import Beyond, Namespace, Row
from inspector.facts.nothing import Nothing
from inspector.facts.unknown import Immortal, ImmortalType, Unknown
from inspector.views.amounts import size
from inspector.views.answers import sentence
from inspector.views.grammar import Block, Fold, Line, Prose, Span, Table, nothing
from inspector.views.plain import clipped
from inspector.views.view import blocks

_HEADS = ("name", "type", "bytes", "refs", "state", "here", "shares")
DANGERS = ("borrowed", "unowned", "freed")
LONGEST_NAME = 60
_KEPT_SHOWN = 6
_UNTIL = {"traceback": ", until the next error"}
_NAMED = 3
"""Sharing names listed beside an owner; the rest is counted."""


@blocks.register
def _namespace(fact: Namespace) -> tuple[Block, ...]:
    said = tuple(Prose(sentence(row)) for row in fact.answers)
    rows = tuple(
        cells
        for _, group in groupby(fact.rows, lambda row: row.group or row.name)
        for cells in _group(tuple(group))
    )
    table = Table(_HEADS, rows, right_aligned=(2, 3, 5))
    none = Line("names", nothing(Nothing("this namespace", "modules, functions and hidden names")))
    return (*said, table if rows else none, *_kept(fact), *((_total(fact),) if rows else ()), *_books(fact))


def _kept(fact: Namespace) -> Iterator[Block]:
    """What is kept beyond the names: a row each, with how to let it go."""
    if not fact.kept:
        return
    rows = tuple(
        (
            (Span(clipped(row.place, LONGEST_NAME), "name"),),
            (Span(row.type_name),),
            (Span(size(row.bytes)),),
            _how_to_let_go(row),
        )
        for row in fact.kept
    )
    summary = Line("beyond", (Span(size(fact.kept_bytes)), Span("  kept, but not shown by a name", "dim")))
    yield Fold(summary, (Table(("", "", "", ""), rows, (2,)),), _KEPT_SHOWN)


def _how_to_let_go(row: Beyond) -> tuple[Span, ...]:
    if row.also:
        return (Span(f"kept by {' and '.join(row.also)} too", "dim"),)
    return (Span(row.do, "code"), Span(row.why + _UNTIL.get(row.by, ""), "dim"))


def _books(fact: Namespace) -> Iterator[Block]:
    """The resident memory of the process: what was counted, and the rest, which was not looked at."""
    if isinstance(fact.rss_bytes, Unknown):
        return
    named, beyond = _number(fact.ram_bytes), _number(fact.kept_ram_bytes)
    rest = fact.rss_bytes - named - beyond
    parts = [f"{size(named)} named", *([f"{size(beyond)} beyond"] if beyond else [])]
    parts += [f"{size(rest)} not looked at"] if rest >= 0 else []
    yield Line(
        "process",
        (Span(size(fact.rss_bytes)), Span(f"  in memory: {', '.join(parts)}", "dim")),
        explain="Not looked at: Python, libraries, what modules hold, and memory that allocators keep free.",
        link="docs/reference/magics.md#the-namespace",
    )


def _number(value: int | Unknown) -> int:
    return 0 if isinstance(value, Unknown) else value


def _group(rows: tuple[Row, ...]) -> Iterator[tuple[tuple[Span, ...], ...]]:
    for position, row in enumerate(rows):
        yield (
            (Span(clipped(row.name, LONGEST_NAME), "name"),),
            (Span(row.type_name),),
            (Span(_bytes(row)),),
            (Span(_references(row.references)),),
            (Span(row.state, _style(row.state)),),
            (Span(here(row), "dim"),),
            _bracket(rows, position),
        )


def _references(count: int | ImmortalType | Unknown) -> str:
    return "∞" if count is Immortal else "?" if isinstance(count, Unknown) else f"{count:,}"


def _bracket(rows: tuple[Row, ...], position: int) -> tuple[Span, ...]:
    """┬ beside the first name of a group, ├ and ┘ beside the others, then the sharing names."""
    row = rows[position]
    if not row.group:
        return ()
    shares = clipped(row.shares, LONGEST_NAME)
    if position == 0:
        others = [clipped(other.name, LONGEST_NAME) for other in rows[1:]]
        more = f" +{len(others) - _NAMED}" if len(others) > _NAMED else ""
        names = " ".join(others[:_NAMED]) + more
        return (Span("┬" if others else "─"), Span(f" {names or shares}".rstrip(), "dim"))
    return (Span("┘" if position == len(rows) - 1 else "├"), Span(f" {shares}".rstrip(), "dim"))


def here(row: Row) -> str:
    """The share of its bytes that is in memory; "" if it has none in this process."""
    if isinstance(row.resident_fraction, Unknown):
        return ""
    percent = 100 * row.resident_fraction
    if 0 < percent < 1:
        return "<1 %"
    return f"{percent:.0f} %" if percent in (0, 100) else f"{min(percent, 99):.0f} %"


def _style(state: str) -> str:
    return "danger" if state in DANGERS else "fact"


def _bytes(row: Row) -> str:
    return str(row.bytes) if isinstance(row.bytes, Unknown) else size(row.bytes)


def _total(fact: Namespace) -> Line:
    least = "" if fact.complete else "more than "
    spans = [Span(f"{least}{size(fact.total_bytes)}"), Span("  each byte counted once", "dim")]
    if fact.left_out:
        spans.append(
            Span(f"  … {fact.left_out:,} more name{'' if fact.left_out == 1 else 's'} (--all)", "dim")
        )
    return Line(
        "in all",
        tuple(spans),
        explain="Names joined by a bracket share memory; their bytes are counted for all of them together.",
        link="docs/reference/magics.md#the-namespace",
    )
