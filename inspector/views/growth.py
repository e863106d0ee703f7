"""Draws what a process grew by: the rows of its account, and the lines that asked for memory."""

# SPDX-License-Identifier: MIT
from typing import Final

from inspector.facts.account import KINDS, Grown
from inspector.facts.conversion import Site
from inspector.facts.growth import Growth, GrowthSource
from inspector.views.amounts import signed_size, size
from inspector.views.grammar import Block, Fold, Line, Span, Table, text
from inspector.views.icicle import icicle
from inspector.views.plain import clipped
from inspector.views.sites import place
from inspector.views.timeline import timeline
from inspector.views.view import blocks

_SHOWN: Final = 6
_LONGEST: Final = 34
_STEPS: Final = " ▁▂▃▄▅▆▇█"


@blocks.register
def _growth(fact: Growth) -> tuple[Block, ...]:
    over = (timeline(fact.moments),) if len(fact.moments) > 1 else ()
    return (*over, *_account(fact), *(_sampled(fact) if fact.sample_bytes else _unsampled(fact)))


def _sampled(fact: Growth) -> tuple[Block, ...]:
    dropped = f", {fact.dropped:,} samples had no room" if fact.dropped else ""
    rows = tuple(map(_source, fact.sources))
    total = size(sum(row.bytes for row in fact.sources))
    told = Line(
        "asked for",
        (*text(total), Span(" still in use, by line", "dim")) if rows else text("no sampled block is in use"),
        (Span(f"one sample for each {size(fact.sample_bytes)}{dropped}", "dim"),),
        "Estimated from sampled allocations that were not freed; small bars: quarters of the time.",
        "docs/reference/heap.md#growth",
    )
    table = Table(("bytes", "when", "line", "", "by"), rows, (0,))
    return (Fold(told, (table,), _SHOWN),) if rows else (told,)


def _unsampled(fact: Growth) -> tuple[Block, ...]:
    """Of another process only the account was read; here, another block took the samples."""
    if fact.moments and not fact.accounts:
        return ()
    if not fact.watched_ns:
        return (
            Line(
                "asked for", text("?"), text("not sampled: another block samples or counts references", "dim")
            ),
        )
    if fact.rows:
        return ()
    change = (*text(signed_size(fact.resident_bytes)), Span(" resident", "dim"))
    return (Line("grew", text(f"no row of the account in {fact.watched_ns / 1e9:,.1f} s"), change),)


def _account(fact: Growth) -> tuple[Block, ...]:
    if not fact.rows:
        return ()
    right = (*text(signed_size(fact.resident_bytes)), Span(" resident", "dim"))
    table = Table(("", "more", "most of it"), tuple(map(_row, fact.rows)), (1,))
    time = f"in {fact.watched_ns / 1e9:,.1f} s" if fact.watched_ns else ""
    held = (icicle(fact.accounts),) if fact.accounts else ()
    return (Fold(Line("grew", text(time), right), (table,), _SHOWN), *held)


def _row(row: Grown) -> tuple[tuple[Span, ...], ...]:
    return (
        text(KINDS[row.kind], "name"),
        text(signed_size(row.bytes)),
        text(clipped(row.name, _LONGEST), "dim"),
    )


def _source(row: GrowthSource) -> tuple[tuple[Span, ...], ...]:
    most = max(row.quarters) or 1
    when = "".join(_STEPS[-(-one * (len(_STEPS) - 1) // most)] for one in row.quarters)
    by = f"{row.library} {row.allocator}".strip()
    return (
        text(size(row.bytes)),
        text(when, "dim"),
        (*text("beside ", "dim"), *_place(row.site)) if row.beside else _place(row.site),
        text(clipped(row.site.text, _LONGEST), "code"),
        text(clipped(by, _LONGEST), "dim"),
    )


def _place(site: Site) -> tuple[Span, ...]:
    """The line of a cell whose number is not known by its line alone."""
    is_nameless = isinstance(site.file, str) and site.file.startswith("<") and not isinstance(site.cell, int)
    return text(f"line {site.line}") if is_nameless else place(site)
