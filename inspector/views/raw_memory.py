"""Draws raw memory that runs did not free: bytes by allocating module, one row per place."""

# SPDX-License-Identifier: MIT
from collections import defaultdict
from collections.abc import Sequence

from inspector.facts.leaks import RawMemory
from inspector.views.amounts import size
from inspector.views.grammar import Block, Fold, Line, Span, Table, text

PAGE = "docs/reference/leaks.md"
_KEPT = "Kept: it grows with every run and is still referenced: a cache or a list?"


def of_raw_memory(found: Sequence[RawMemory], runs: int) -> tuple[Block, ...]:
    """The table of blocks that every run left; empty if there are none, or after a single run."""
    if not found or runs == 1:
        return ()
    total = sum(sum(raw.bytes) for raw in found)
    head = Line(
        "bytes",
        text(f"{size(total)} outside objects not freed after {runs} runs, by allocating module"),
        explain="Blocks of malloc and the like that every run left more of; lost: nothing points to them.",
        link=f"{PAGE}#bytes-outside-objects",
    )
    columns = ("module", "bytes per run", "allocated by", "now")
    caption = _KEPT if any(raw.holder for raw in found) else ""
    table = Table(columns, tuple(_rows(found)), right_aligned=(1,), caption=caption)
    return (Fold(head, (table,), shown=12),)


def _rows(found: Sequence[RawMemory]) -> list[tuple[tuple[Span, ...], ...]]:
    modules: dict[str, list[RawMemory]] = defaultdict(list)
    for raw in found:
        modules[raw.module].append(raw)
    rows: list[tuple[tuple[Span, ...], ...]] = []
    for name, places in sorted(modules.items(), key=lambda pair: -sum(sum(raw.bytes) for raw in pair[1])):
        rows += [
            (text(name if not place else "", "native"), text(_grown(raw)), text(_where(raw)), _now(raw))
            for place, raw in enumerate(places)
        ]
    return rows


def _grown(raw: RawMemory) -> str:
    amounts = [size(amount) for amount in raw.bytes]
    return amounts[0] if len(set(amounts)) == 1 else ", ".join(amounts)


def _where(raw: RawMemory) -> str:
    call = raw.asked[0]
    source = call.source if isinstance(call.source, str) else call.symbol
    return f"{call.function} {source}" if isinstance(source, str) else call.function


def _now(raw: RawMemory) -> tuple[Span, ...]:
    if all(lost == blocks for lost, blocks in zip(raw.lost, raw.blocks, strict=True)):
        return text("lost", "warn" if raw.doubts else "danger")
    held = f"kept by {raw.holder}" if raw.holder else "kept by lost blocks"
    return text(f"{sum(raw.lost)} lost, others {held}" if any(raw.lost) else held, "dim")
