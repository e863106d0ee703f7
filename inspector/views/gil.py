"""Draws where the GIL was given up during a trace, and who crossed the border meanwhile."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.facts.conversion import Released, Site
from inspector.facts.unknown import Unknown
from inspector.views.grammar import Block, Fold, Line, Span, Table, text
from inspector.views.sites import duration, place


def given_up(released: tuple[Released, ...]) -> Iterator[Block]:
    """Where the GIL was given up, and whether another thread crossed the border meanwhile."""
    if not released:
        return
    total = sum(one.released_ns for one in released if not isinstance(one.released_ns, Unknown))
    times = sum(one.times for one in released)
    head = Line(
        "GIL", text(f"given up ×{times:,}, {duration(total)}"), link="docs/reference/traces.md#the-gil"
    )
    rows = tuple(
        (
            place(one.site),
            text(one.function or "?", "native"),
            text(f"{one.times:,}"),
            text(duration(one.released_ns)),
            text(duration(one.longest_ns), "dim"),
            _ran(one.meanwhile),
        )
        for one in released
    )
    columns = ("line", "given up by", "times", "without it", "longest", "meanwhile")
    yield Fold(head, (Table(columns, rows, (2, 3, 4)),), 0)


def _ran(meanwhile: dict[int, int]) -> tuple[Span, ...]:
    if not meanwhile:
        return text("nobody crossed", "dim")
    count, threads = sum(meanwhile.values()), len(meanwhile)
    return text(f"{count:,} records of {threads:,} {'thread' if threads == 1 else 'threads'}")


def sample() -> tuple[Released, ...]:
    """One call that sleeps, one that was left alone."""
    nowhere = Unknown("not in a notebook")
    one, two = (Site("app.py", line, "<module>", nowhere, "") for line in (3, 5))
    return (
        Released("libc.so.6:usleep", one, 1, 1, 2_300_000, 2_300_000, {2: 34}),
        Released("numpy.dot", two, 1, 4, 91_000, 40_000, {}),
    )


if __name__ == "__main__":
    from inspector.views.sample import draw

    draw(tuple(given_up(sample())))
