"""Draws memory outside objects that runs left over: bytes by allocating module, a row a place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from inspector.facts.leaks import RawMemory
from inspector.views.amounts import size
from inspector.views.grammar import Block, Fold, Line, Span, Table, text

PAGE = "docs/reference/leaks.md"
_KEPT = "Kept: it grows with every run and is still referenced: a cache or a list?"


def of_raw_memory(found: Sequence[RawMemory], runs: int) -> tuple[Block, ...]:
    """The table of what every run left; nothing where there is none, or the code ran once."""
    if not found or runs == 1:
        return ()
    total = sum(sum(one.bytes) for one in found)
    head = Line(
        "bytes",
        text(f"{size(total)} outside objects not freed after {runs} runs, by allocating module"),
        explain="Blocks of malloc and its kin that every run left more of; lost: nothing points at them.",
        link=f"{PAGE}#bytes-outside-objects",
    )
    columns = ("module", "bytes a run", "asked for by", "now")
    caption = _KEPT if any(one.holder for one in found) else ""
    table = Table(columns, tuple(_rows(found)), right_aligned=(1,), caption=caption)
    return (Fold(head, (table,), shown=12),)


def _rows(found: Sequence[RawMemory]) -> list[tuple[tuple[Span, ...], ...]]:
    modules: dict[str, list[RawMemory]] = defaultdict(list)
    for one in found:
        modules[one.module].append(one)
    rows: list[tuple[tuple[Span, ...], ...]] = []
    for name, some in sorted(modules.items(), key=lambda pair: -sum(sum(one.bytes) for one in pair[1])):
        rows += [
            (text(name if not place else "", "native"), text(_grown(one)), text(_where(one)), _now(one))
            for place, one in enumerate(some)
        ]
    return rows


def _grown(one: RawMemory) -> str:
    amounts = [size(amount) for amount in one.bytes]
    return amounts[0] if len(set(amounts)) == 1 else ", ".join(amounts)


def _where(one: RawMemory) -> str:
    asked = one.asked[0]
    source = asked.source if isinstance(asked.source, str) else asked.symbol
    return f"{asked.function} {source}" if isinstance(source, str) else asked.function


def _now(one: RawMemory) -> tuple[Span, ...]:
    if all(lost == blocks for lost, blocks in zip(one.lost, one.blocks, strict=True)):
        return text("lost", "warn" if one.doubts else "danger")
    held = f"kept by {one.holder}" if one.holder else "kept by lost blocks"
    return text(f"{sum(one.lost)} lost, others {held}" if any(one.lost) else held, "dim")
