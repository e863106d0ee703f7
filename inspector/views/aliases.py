"""The alias map: all objects that share a range of bytes, each as a bar over the range."""

# SPDX-License-Identifier: MIT
from inspector.facts.aliases import Alias, Aliases
from inspector.facts.memory import Range
from inspector.views.amounts import size
from inspector.views.grammar import Block, Fold, Line, Span, Table, text
from inspector.views.materialization import danger
from inspector.views.view import blocks

BAR = 24
PAGE = "docs/reference/materialization.md#aliases"


@blocks.register
def aliases(fact: Aliases) -> tuple[Block, ...]:
    """One row per object: name, library, bar of its bytes, state; then the dangers."""
    if not fact.rows:
        return (Line("aliases", text("it lays no bytes open", "dim"), link=PAGE),)
    whole = fact.rows[0].range
    low = min([whole.start, *(row.range.start for row in fact.rows)])
    high = max([whole.stop, *(row.range.stop for row in fact.rows)])
    head = Line(
        "aliases",
        (
            Span(f"{len(fact.rows) - 1 + fact.left_out}"),
            Span(f"  objects share its {size(whole.bytes)}, of {fact.looked_at:,} compared", "dim"),
        ),
        explain="All objects of known libraries with bytes in the same range, by addresses.",
        link=PAGE,
    )
    rows = tuple(_row(row, low, high) for row in fact.rows)
    more = f"  {fact.left_out:,} beyond the bound" if fact.left_out else ""
    extent = max(row.range.stop for row in fact.rows) - min(row.range.start for row in fact.rows)
    bars = Line("", text(f"each bar: where in {size(extent)}{more}", "dim"))
    return (head, Fold(bars, (Table(("", "", "", "", ""), rows),), shown=12), *map(danger, fact.findings))


def _row(row: Alias, low: int, high: int) -> tuple[tuple[Span, ...], ...]:
    where = (
        f"{row.library or 'Python'} {row.type_name}" if row.name != row.type_name else row.library or "Python"
    )
    access = "rw" if row.writable is True else "r" if row.writable is False else "?"
    return (
        text(row.name, "name" if row.subject else "fact"),
        text(where, "dim"),
        text(bar(row.range, low, high), "native" if row.subject else "python"),
        text(f"{size(row.common_bytes)} {access}"),
        text(row.state),
    )


def bar(part: Range, low: int, high: int) -> str:
    """`part` as a bar over [low, high), at least one block character wide."""
    extent = max(high - low, 1)
    first = min((part.start - low) * BAR // extent, BAR - 1)
    last = max(-(-(part.stop - low) * BAR // extent), first + 1)
    return "·" * first + "█" * (last - first) + "·" * (BAR - last)
