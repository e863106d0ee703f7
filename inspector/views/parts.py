"""Draws the columns of a table: name, type, bytes, stride, block, and what shares the bytes."""

# SPDX-License-Identifier: MIT
from inspector.facts.parts import Part, Parts
from inspector.facts.unknown import Unknown
from inspector.views.amounts import size
from inspector.views.grammar import Block, Fold, Line, Span, Table, text
from inspector.views.view import blocks

_SHOWN = 8
_HEADS = ("", "dtype", "bytes", "step", "block", "shared with")
_RIGHT = (2, 3, 4)


@blocks.register
def _parts(fact: Parts) -> tuple[Block, ...]:
    many = "1 block" if fact.blocks == 1 else f"{fact.blocks:,} blocks"
    more = fact.total - len(fact.parts)
    summary = Line(
        "columns",
        (Span(f"{fact.total:,}"), Span(f"  in {many}", "dim")),
        text(f"the first {len(fact.parts)} inspected", "dim") if more else (),
        explain="Columns of one block lie side by side in one array; the step leads from row to row.",
        link="docs/reference/card.md#columns",
    )
    table = Table(_HEADS, tuple(map(_row, fact.parts)), _RIGHT)
    return (Fold(summary, (table,), _SHOWN),) if fact.parts else (summary,)


def _row(part: Part) -> tuple[tuple[Span, ...], ...]:
    return (
        text(part.name, "name"),
        text(part.format),
        text(_known(part.bytes), "fact"),
        text(_known(part.step_bytes), "dim"),
        text(str(part.block), "dim"),
        text(" · ".join(_sharers(part)), "dim"),
    )


def _known(amount: int | Unknown) -> str:
    return "?" if isinstance(amount, Unknown) else size(amount)


def _sharers(part: Part) -> list[str]:
    """What shares the bytes: the owner by name, and copy-on-write holders."""
    found = [part.owner_name] if part.owner_name else []
    if not isinstance(part.holders, Unknown) and part.holders > 1:
        found.append(f"{part.holders - 1} more until a write")
    return found
