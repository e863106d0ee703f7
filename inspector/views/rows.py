"""Lays out blocks as rows of spans at a width, for terminal text and SVG."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from inspector.facts.record import dataclass
from inspector.views.grammar import Block, Fold, Line, Picture, Prose, Span, Table
from inspector.views.plain import cells, plain
from inspector.views.wrap import Row, clipped, filled, width_of, wrapped

LABEL_COLUMNS = 9
VALUE_COLUMNS = 5
LONGEST_LABEL = 20
"""A longer label gets its own row if its line does not fit beside it."""
NEST_COLUMNS = 2
GAP = 2
LAST_COLUMN = 18
"""Cells that the last column of a table keeps before other columns shrink."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """How a report is drawn. Widths are in terminal cells."""

    width: int = 80
    everything: bool = False
    """Do not cut folds (`--all`)."""
    explain: bool = False
    """Draw a sentence and a link under each line (`--explain`)."""
    verbose: bool = False
    """Draw full addresses and other rare detail (`-v`)."""
    most: int = 0
    """Rows of one fold in HTML; 0: all."""


def rows(blocks: Iterable[Block], drawing: Drawing, indent: int = 1) -> Iterator[Row]:
    """The rows of `blocks`; no row is wider than `drawing.width` cells."""
    for block in blocks:
        if isinstance(block, Line):
            yield from _line(block, drawing, indent)
        elif isinstance(block, Table):
            yield from _table(block, drawing, indent)
        elif isinstance(block, Prose):
            yield from wrapped([Span(" " * indent), *_safe(block.spans)], drawing.width, indent)
        elif isinstance(block, Picture):
            yield from _picture(block, drawing, indent)
        else:
            yield from _fold(block, drawing, indent)


def shown(blocks: Iterable[Block], drawing: Drawing) -> tuple[Block, ...]:
    """The blocks to draw: without `-v`, no verbose lines."""
    return tuple(block for block in blocks if drawing.verbose or not _is_verbose(block))


def _is_verbose(block: Block) -> bool:
    line = block.summary if isinstance(block, Fold) else block
    return isinstance(line, Line) and line.verbose


def leaves(blocks: Iterable[Block]) -> int:
    """The number of lines and table rows, which a fold counts."""
    return sum(len(block.rows) if isinstance(block, Table) else 1 for block in blocks)


def _line(line: Line, drawing: Drawing, indent: int) -> Iterator[Row]:
    if line.verbose and not drawing.verbose:
        return
    label_text, style = plain(line.label), "name" if line.heading else "label"
    whole = indent + cells(label_text) + GAP + width_of(line.spans) + GAP + width_of(line.right)
    if line.spans and cells(label_text) > LONGEST_LABEL and whole > drawing.width:
        yield from wrapped([Span(" " * indent + label_text, style)], drawing.width, indent + GAP)
        label_text = ""
    over = max(cells(label_text) - LABEL_COLUMNS + GAP, 0) if cells(label_text) >= LABEL_COLUMNS else 0
    label = filled([Span(label_text, style)], LABEL_COLUMNS + over)
    left = [Span(" " * indent), *label, *_aligned(line.spans, over)]
    hang = min(indent + LABEL_COLUMNS, drawing.width // 3)
    yield from _flushed(left, _safe(line.right), drawing.width, hang)
    if drawing.explain and line.explain:
        link = f" ({plain(line.link)})" if line.link else ""
        yield from wrapped([Span(" " * hang + plain(line.explain) + link, "dim")], drawing.width, hang)


def _safe(spans: Iterable[Span]) -> list[Span]:
    return [Span(plain(span.text), span.style) for span in spans]


def _aligned(spans: Iterable[Span], over: int) -> list[Span]:
    """Pad a short value, so that evidence (a span that begins with two blanks) has its own column.

    If the label is `over` cells too wide, that many trailing blanks of the value are removed.
    """
    safe = _safe(spans)
    if len(safe) > 1 and safe[1].text.startswith("  "):
        value = safe[0].text
        value = value[: max(len(value) - over, len(value.rstrip(" ")))]
        safe[0] = Span(value + " " * (VALUE_COLUMNS - cells(value)), safe[0].style)
    return safe


def _flushed(left: Sequence[Span], right: Sequence[Span], width: int, hang: int) -> Iterator[Row]:
    """The row with its note at the right edge, or under it if both do not fit."""
    *before, last = wrapped(left, width, hang)
    yield from before
    if not right:
        yield last
    elif width_of(last) + GAP + width_of(right) <= width:
        yield (*last, *filled(right, width - width_of(last), right=True))
    else:
        yield last
        yield from (filled(row, width, right=True) for row in wrapped(right, width, 0))


def _picture(picture: Picture, drawing: Drawing, indent: int) -> Iterator[Row]:
    margin = indent + LABEL_COLUMNS + NEST_COLUMNS
    drawn = [_safe(row) for row in picture.rows]
    widest = max((width_of(row) for row in drawn), default=0)
    if widest > drawing.width:  # drop the legend first
        drawn = [row[:-1] if len(row) > 1 and row[-1].style == "dim" else row for row in drawn]
        widest = max(width_of(row) for row in drawn)
    if margin + widest > drawing.width:
        margin = max(drawing.width - widest, 0)
    if widest > drawing.width:
        yield from wrapped([Span(" " * indent), Span(plain(picture.alt), "dim")], drawing.width, indent)
        return
    for row in drawn:
        yield (Span(" " * margin), *row)


def _table(table: Table, drawing: Drawing, indent: int) -> Iterator[Row]:
    heads = [[Span(plain(name), "label")] for name in table.columns]
    body = [[_safe(cell) for cell in row] for row in table.rows]
    grid = [heads, *body] if any(table.columns) else body
    whole = [row for row in grid if len(row) == len(heads)]
    widths = _column_widths(whole, drawing.width - indent, table.yielding)
    for row in grid:
        if len(row) < len(heads):  # its last cell goes on to the right edge
            gone = sum(widths[: len(row) - 1]) + GAP * (len(row) - 1)
            wide = [*widths[: len(row) - 1], drawing.width - indent - gone]
            yield from _table_row(row, wide, (), drawing, indent)
            continue
        yield from _table_row(row, widths, table.right_aligned, drawing, indent)
    for sentence in table.caption.splitlines():
        yield from wrapped([Span(" " * indent), Span(plain(sentence), "dim")], drawing.width, indent)


def _table_row(
    row: Sequence[Sequence[Span]],
    widths: Sequence[int],
    right_aligned: Sequence[int],
    drawing: Drawing,
    indent: int,
) -> Iterator[Row]:
    """Cells in their columns, cut to fit; with `--all` the last cell continues below."""
    parts: list[Span] = [Span(" " * indent)]
    final = len(widths) - 1
    for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
        if column == final and column not in right_aligned:
            lines = list(wrapped(cell, max(width, 1), 0)) if drawing.everything else [clipped(cell, width)]
            hang = Span(" " * width_of(parts))
            yield (*parts, *(lines[0] if lines else ()))
            yield from ((hang, *line) for line in lines[1:])
            return
        parts += filled(clipped(cell, width), width, right=column in right_aligned)
        parts += [Span(" " * GAP)] if column < final else []
    yield tuple(parts)


def _column_widths(
    grid: Sequence[Sequence[Sequence[Span]]], room: int, yielding: tuple[int, int] = (-1, 0)
) -> list[int]:
    """The natural widths; if they exceed `room`, the yielding column shrinks first, then the last, then the
    widest."""
    if not grid:
        return []
    widths = [max(width_of(cell) for cell in column) for column in zip(*grid, strict=True)]
    excess = max(sum(widths) + GAP * (len(widths) - 1) - room, 0)
    if (at := yielding[0]) >= 0 and excess:
        given = min(excess, max(widths[at] - yielding[1], 0))
        widths[at], excess = widths[at] - given, excess - given
    widths[-1] -= min(excess, max(widths[-1] - LAST_COLUMN, 0))
    while widths and sum(widths) + GAP * (len(widths) - 1) > room and max(widths) > 1:
        widths[widths.index(max(widths))] -= 1
    return widths


def _fold(fold: Fold, drawing: Drawing, indent: int) -> Iterator[Row]:
    if fold.summary.verbose and not drawing.verbose:
        return
    inside = shown(fold.blocks, drawing)
    room = leaves(inside) if drawing.everything else fold.shown
    left_out = max(leaves(inside) - room, 0)
    if left_out and not room:
        summary = replace(fold.summary, right=fold.summary.right or (Span(fold.more, "dim"),))
        yield from _line(summary, drawing, indent)
        return
    yield from _line(fold.summary, drawing, indent)
    yield from rows(first(inside, room), drawing, indent + NEST_COLUMNS)
    if left_out + fold.unlisted:
        more = f" ({fold.more})" if fold.more and left_out else ""
        said = f"… {left_out + fold.unlisted:,} more{more}"
        yield (Span(" " * (indent + NEST_COLUMNS)), Span(said, "dim"))


def first(blocks: Iterable[Block], room: int) -> Iterator[Block]:
    """The first blocks, up to `room` lines and table rows."""
    for block in blocks:
        if room <= 0:
            return
        if isinstance(block, Table) and len(block.rows) > room:
            block = replace(block, rows=block.rows[:room])
        yield block
        room -= leaves([block])
