"""Draws the statements of a trace: the user's lines in order, what each did, how many bytes, why."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator

from inspector.facts.amounts import counted, size
from inspector.facts.conversion import Materialized
from inspector.facts.statements import Inside, Operator, Statement, Statements
from inspector.facts.unknown import Unknown
from inspector.views.grammar import Block, Line, Span, Table, text
from inspector.views.losses import told
from inspector.views.plain import clipped
from inspector.views.sites import duration
from inspector.views.view import blocks

MOST_ROWS = 20
BARS = " ▁▂▃▄▅▆▇█"
MOST_SOURCE, LEAST_SOURCE = 72, 28
"""Characters of a statement: in wide terminals and pages, and at 80 columns."""
COPIED = 16
MOST_OPERATORS = 2
"""Shown of one statement."""
STYLES = {"copied": "warn", "view": "good", "shared": "good", "same object": "good", "in place": "good"}


@blocks.register
def statements(fact: Statements) -> tuple[Block, ...]:
    """The rows that have bytes or losses; at most MOST_ROWS, those with most bytes, in order."""
    return source_lines(fact, MOST_ROWS)


def source_lines(fact: Statements, most: int) -> tuple[Block, ...]:
    """At most so many of those rows."""
    rows = [row for row in fact.rows if crossed(row)]
    if not rows:
        return _calls(fact)
    chosen = sorted(sorted(rows, key=_weight, reverse=True)[:most], key=rows.index)
    left = len(rows) - len(chosen)
    more = Line("", text(f"… {left:,} more lines", "dim"), text("--all", "dim"))
    return (_table(chosen), more) if left else (_table(rows),)


def _table(rows: list[Statement]) -> Table:
    most = max((row.copied_bytes for row in rows), default=0)
    files = {row.site.file for row in rows}
    cells: list[tuple[tuple[Span, ...], ...]] = []
    before: Statement | None = None
    for row in rows:
        again = before is not None and (before.site.file, before.site.line) == (row.site.file, row.site.line)
        cells += _cells(row, most, len(files) > 1, again)
        before = row
    return Table(("", "", "", "", "", ""), tuple(cells), right_aligned=(0, 3), yielding=(1, LEAST_SOURCE))


def _calls(fact: Statements) -> tuple[Block, ...]:
    """Of a trace without bytes: the lines that spent most time in native code."""
    known = [row for row in fact.rows if row.calls]
    slowest = sorted(known, key=lambda row: 0 if isinstance(row.native_ns, Unknown) else -row.native_ns)
    rows = tuple(
        (
            text(_place(row, True), "dim"),
            text(clipped(row.site.text, MOST_SOURCE), "python"),
            text(counted(row.calls, "call")),
            text(duration(row.native_ns)),
        )
        for row in slowest[:MOST_ROWS]
    )
    table = Table(("", "", "", ""), rows, right_aligned=(2, 3), yielding=(1, LEAST_SOURCE))
    return (table,) if rows else ()


def crossed(row: Statement) -> bool:
    """Whether a statement had to do with bytes; a second name for an object has not."""
    if row.losses or row.inside or row.materialized:
        return True
    if row.verdict == "unknown":
        return not isinstance(row.bytes, Unknown) and row.bytes > 0
    return row.verdict != "no bytes" and not (row.verdict == "same object" and not row.calls)


def _weight(row: Statement) -> tuple[int, int]:
    """Losses that nobody asked for; then bytes, of which a copied one weighs as many as COPIED others."""
    known = 0 if isinstance(row.bytes, Unknown) else row.bytes
    copied = row.copied_bytes + sum(one.bytes for one in row.inside)
    return sum(not one.is_asked_for for one in row.losses), COPIED * copied + known


def _cells(row: Statement, most: int, of_file: bool, again: bool) -> Iterator[tuple[tuple[Span, ...], ...]]:
    amount = "?" if isinstance(row.bytes, Unknown) else size(row.bytes) if row.bytes else ""
    yield (
        text("" if again else _place(row, of_file), "dim"),
        text(f"  {row.target}" if again else clipped(row.site.text, MOST_SOURCE), "python"),
        text(did(row), STYLES.get(row.verdict, "fact")),
        text(amount),
        text(BARS[_bar(row.copied_bytes, most)], "warn"),
        _why(row),
    )
    for loss in row.losses[:1]:
        yield (text(""), text(f"   {told(loss)}", "dim" if loss.is_asked_for else "danger"))
    for data in row.materialized[:1]:
        yield (text(""), text(f"   {_came(row.materialized)} {data.type_name}", "warn"))
    if said := ran(row):
        yield (text(""), text(f"   {said}", "warn" if row.operators[0].did == "copied" else "dim"))
    for one in () if said and row.operators[0].did == "copied" else row.inside:
        yield (text(""), text(f"   {inside(one)}", "dim"))


def did(row: Statement) -> str:
    """ "copied ×3"; "" of a statement that is told for what libraries did on the way."""
    return "" if row.verdict == "no bytes" else f"{row.verdict}{times(row)}"


def times(row: Statement) -> str:
    """How often a statement ran: " ×3"; "" for once."""
    return f" ×{row.times:,}{'+' if row.at_least else ''}" if row.times > 1 else ""


def _place(row: Statement, of_file: bool) -> str:
    if not isinstance(row.site.cell, Unknown) and of_file:
        return f"{row.site.cell}:{row.site.line}"
    name = f"{str(row.site.file).rsplit('/', 1)[-1]}:" if of_file else ""
    return f"{name}{row.site.line}"


def _bar(bytes_: int, most: int) -> int:
    return max(1, round((len(BARS) - 1) * bytes_ / most)) if bytes_ and most else 0


def _why(row: Statement) -> tuple[Span, ...]:
    doubt = "" if row.certain else "probably "
    if row.verdict in ("view", "same object", "in place") and row.of:
        by = f", {row.reason}" if row.reason else ""
        return (Span("of ", "dim"), Span(row.of, "code"), *text(by, "dim"))
    return text(f"{doubt}{row.reason}" if row.reason else doubt.strip(), "dim")


def _came(rows: tuple[Materialized, ...]) -> str:
    """ "2 materialized, 8.0 kB:"; of the objects that were lazy before."""
    known = [row.materialized_bytes for row in rows if not isinstance(row.materialized_bytes, Unknown)]
    return f"{len(rows):,} materialized, {size(sum(known)) if known else '?'}:"


def inside(found: Inside) -> str:
    """What a library copied on the way, in words."""
    copies = "1 copy" if found.copies == 1 else f"{found.copies:,} copies"
    return f"inside {found.library}: {copies}, {size(found.bytes)}"


def ran(row: Statement) -> str:
    """ "torch: contiguous → clone copied 4.0 MB, addmm new 8.0 MB, 2 more"; "" where the row says it all."""
    made: dict[tuple[str, str], tuple[int, int]] = {}
    for one in row.operators:
        key = one.did, _called(one)
        times, total = made.get(key, (0, 0))
        made[key] = times + one.times, total + one.bytes
    if not made or (len(made) == 1 and not row.inside):
        return ""
    first = [_did(*key, *amount) for key, amount in list(made.items())[:MOST_OPERATORS]]
    left = len(made) - len(first)
    return f"torch: {', '.join([*first, *([f'{left} more'] if left else [])])}"


def _did(did: str, called: str, times_: int, total: int) -> str:
    return f"{called}{f' ×{times_:,}' if times_ > 1 else ''} {did} {size(total)}"


def _called(one: Operator) -> str:
    name = one.name.removeprefix("aten::")
    return f"{one.called} → {name}" if one.did == "copied" and one.called not in ("", name) else name
