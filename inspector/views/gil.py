"""Draws where the GIL was released during a trace, and which threads made records meanwhile."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator

from inspector.facts.conversion import Released
from inspector.views.amounts import total
from inspector.views.grammar import Block, Fold, Line, Span, Table, text
from inspector.views.sites import duration, place


def given_up(released: tuple[Released, ...]) -> Iterator[Block]:
    """Where the GIL was released, and how many records other threads made meanwhile."""
    if not released:
        return
    spent = total((release.released_ns for release in released), duration)
    times = sum(release.times for release in released)
    head = Line("GIL", text(f"released ×{times:,}, {spent}"), link="docs/reference/traces.md#the-gil")
    rows = tuple(
        (
            place(release.site),
            text(release.function or "?", "native"),
            text(f"{release.times:,}"),
            text(duration(release.released_ns)),
            text(duration(release.longest_ns), "dim"),
            _ran(release.meanwhile),
        )
        for release in released
    )
    columns = ("line", "released by", "times", "without it", "longest", "meanwhile")
    yield Fold(head, (Table(columns, rows, (2, 3, 4)),), 0)


def _ran(meanwhile: dict[int, int]) -> tuple[Span, ...]:
    if not meanwhile:
        return text("no records", "dim")
    count, threads = sum(meanwhile.values()), len(meanwhile)
    return text(f"{count:,} records of {threads:,} {'thread' if threads == 1 else 'threads'}")
