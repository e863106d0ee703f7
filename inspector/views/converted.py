"""Draws the lines of a host that made values cross: direction, both sides, bytes, time, what was lost."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from dataclasses import replace

from inspector.facts.amounts import counted, size
from inspector.facts.converted import Converted, HostLine, HostLines, HostPlace, HostSide, ValueChange
from inspector.facts.unknown import Unknown
from inspector.views.grammar import Block, Line, Picture, Span, text
from inspector.views.plain import clipped
from inspector.views.sites import duration
from inspector.views.view import blocks

MOST_ROWS = 16
"""Rows of text by default."""
EVERY_ROW = 1 << 20
SOURCE, WIDTH, BAR = 26, 78, 10
LEAST_SOURCE = 12
FEW = 100
"""Elements up to which bytes and time are not told."""
Row = tuple[Span, ...]


@blocks.register
def host_lines(fact: HostLines, most: int = MOST_ROWS) -> tuple[Block, ...]:
    """The lines that lost most and took longest, in the order of the source."""
    if not fact.lines:
        return ()
    chosen, used = list[HostLine](), 0
    longest = max((one.ns for line in fact.lines for one in line.conversions), default=0)
    for line in sorted(fact.lines, key=_weight, reverse=True):
        used += _height(line)
        if used <= most or not chosen:
            chosen.append(line)
    rows = list(_rows([line for line in fact.lines if line in chosen], fact.language, longest))
    alt = f"{counted(len(chosen), 'line')} of {fact.language} that made values cross"
    left = len(fact.lines) - len(chosen)
    more = (Line("", text(f"… {counted(left, 'more line')} (--all)", "dim")),) if left else ()
    return (Picture(tuple(rows), alt), *more)


def _weight(line: HostLine) -> tuple[int, int]:
    slow = any(_measured(one) and one.how == "one by one" for one in line.conversions)
    return (slow + sum(len(one.changes) for one in line.conversions), sum(one.ns for one in line.conversions))


def _shown(line: HostLine) -> list[Converted]:
    """Its conversions that lost something or have many elements; else its largest."""
    chosen = [one for one in line.conversions if one.changes or _measured(one)]
    return chosen or list(_most(line))


def _most(line: HostLine) -> Iterator[Converted]:
    """Of each direction the kind that tells most; of what a method of R's converts its own direction."""
    for to_python in (False, True):
        of_it = [one for one in line.conversions if one.to_python == to_python]
        if of_it:
            yield max(of_it, key=lambda one: _tells(one, line.whole))
            if line.whole:
                return


def _tells(one: Converted, whole: str) -> tuple[bool, bool, bool, int]:
    """What a method converts before what it asks for on the way; values before the names that they have."""
    is_text = {one.given.kind, one.became.kind} == {"character", "str"}
    return one.given.kind == whole, one.how != "single", not is_text, one.given.length * one.times


def _height(line: HostLine) -> int:
    shown = _shown(line)
    details = sum(bool(_measured(one)) + len(one.changes) for one in shown)
    return details + (1 if line.whole else len(shown)) + 2 * bool(line.function)


def _rows(lines: list[HostLine], language: str, longest: int) -> Iterator[Row]:
    file, before = "", HostPlace("", 0, 0, "")
    for line in lines:
        if line.statement.file != file:
            file = line.statement.file
            yield (Span(f" {file.rpartition('/')[2]}", "dim"),)
        inner = line.inside != line.statement
        if inner and line.statement != before:
            yield _placed(line.statement, 0)
        before = line.statement
        yield from _of_line(line, language, longest, 2 if inner else 0)


def _named(line: HostLine) -> HostPlace:
    """Its inner place; one in another file than the statement has the name of that file."""
    name, of_statement = (one.file.rpartition("/")[2] for one in (line.inside, line.statement))
    if name == of_statement:
        return line.inside
    return replace(line.inside, text=f"{name}  {line.inside.text}")


def _placed(place: HostPlace, indent: int, rest: Row = ()) -> Row:
    number = str(place.line) if place.line else "?"
    room = _room(rest) - indent
    source = clipped(place.text, room)
    space = " " * max(room - len(source), 1) if rest else ""
    return (Span(f"{number:>{4 + indent}}  ", "dim"), Span(source + space, "code"), *rest)


def _room(rest: Row) -> int:
    """Columns of the source: fewer before a long text, for a row that is too wide is not drawn."""
    return min(SOURCE, max(WIDTH - 7 - sum(len(span.text) for span in rest), LEAST_SOURCE))


def _of_line(line: HostLine, language: str, longest: int, indent: int) -> Iterator[Row]:
    first = True
    for one in _shown(line):
        way = f"{language} → Python" if one.to_python else f"Python → {language}"
        by_method = not one.to_python and line.whole.startswith(("pandas.", "datetime."))
        is_whole = by_method or bool(line.whole and one.name)
        whole = line.whole.rpartition(".")[2] if by_method else line.whole
        sides = whole if is_whole else f"{_sides(one)}{_times(one)}"
        said = (Span(f" {way}  ", "dim"), Span(clipped(sides, WIDTH - 22 - LEAST_SOURCE)))
        if first:
            yield _placed(_named(line), indent, said)
        elif not is_whole:
            yield (Span(" " * (6 + _room(said))), *said)
        first = False
        if measured := _measured(one):
            bar = "█" * max(round(BAR * one.ns / longest), 1) if longest and one.ns * 20 > longest else ""
            shared = "good" if one.how == "shared" else "warn" if one.how == "one by one" else "fact"
            yield (Span(" " * (8 + indent)), Span(measured, shared), Span(f"  {bar}", "warn"))
        for change in one.changes:
            yield (Span(" " * (8 + indent)), *_changed(change, one))


def _sides(one: Converted) -> str:
    """ "numeric(1,000,000) → list"; the second length only where it is another."""
    same = one.given.length == one.became.length
    return f"{_side(one.given, not one.to_python, True)} → {_side(one.became, one.to_python, not same)}"


def _side(side: HostSide, of_python: bool, measured: bool) -> str:
    kind = side.kind.rpartition(".")[2] if of_python else side.kind
    return f"{kind}({side.length:,})" if measured and side.length != 1 else kind


def _times(one: Converted) -> str:
    return f" ×{one.times:,}" if one.times > 1 else ""


def _measured(one: Converted) -> str:
    """How, calls, bytes on both sides, time; "" for a few values."""
    if one.how in ("single", "wrapped") or max(one.given.length, one.became.length) < FEW:
        return ""
    sizes = [size(side.bytes) for side in (one.given, one.became) if not isinstance(side.bytes, Unknown)]
    amount = f"the same {sizes[0]}" if one.how == "shared" and sizes else " → ".join(sizes)
    name = f"{one.name}  " if one.name else ""
    calls = f", {one.calls:,} calls" if one.how == "one by one" and one.calls else ""
    how: str = "copied as one block" if one.how == "one block" else one.how
    if one.how == "one block" and one.times > 1:
        how, amount = f"copied as {one.times:,} blocks", size(one.made_bytes)
    return f"{name}{how}{calls}  {amount}  {duration(one.ns)}"


def _changed(change: ValueChange, one: Converted) -> Row:
    where = ", ".join(filter(None, (change.where, "" if _measured(one) else one.name)))
    count = f"{change.lost:,} of {change.elements:,}: " if change.elements > 1 and change.first else ""
    what = f"{where} " if where else ""
    at = f" (item {change.first:,})" if change.first and change.elements > 1 else ""
    kind = f"{one.given.kind}, " if one.name and one.to_python and not _measured(one) else ""
    said = f"{what}{kind}{count}{change.before} → {change.after}{at}"
    return (Span("LOST  ", "danger"), Span(clipped(said, WIDTH - 18), "danger"))
