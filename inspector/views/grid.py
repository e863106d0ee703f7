"""Draws a strided block as a small grid: each cell shows the element's place in memory."""

# SPDX-License-Identifier: MIT
from inspector.facts.layout import Layout
from inspector.views.amounts import size
from inspector.views.grammar import Picture, Span

MOST_ROWS = 4
MOST_COLUMNS = 6
WIDEST = 66
"""Terminal cells left of 80 columns after the margin."""
LEAST_CELL = 4
MORE = "…"

Cells = list[list[str]]


def grid(layout: Layout) -> Picture | None:
    """The last two axes, or one row for a single axis; None for a scalar and for an empty array."""
    if not layout.shape or 0 in layout.shape or not layout.itemsize_bytes:
        return None
    cells = numbers(layout, MOST_COLUMNS)
    columns = MOST_COLUMNS
    while columns > 2 and _width(boxed(cells, _gap(layout))) > WIDEST:
        columns -= 1
        cells = numbers(layout, columns)
    rows = boxed(cells, _gap(layout))
    return Picture(tuple(_noted(rows, _note(layout))), alt=_alt(layout))


def boxed(cells: Cells, gap: str = "") -> list[list[Span]]:
    """Cells of one width in a box; `gap`: text between two of them."""
    width = max(LEAST_CELL, 2 + max(len(text) for row in cells for text in row))
    rules = [_rule(len(cells[0]), width, gap, ends) for ends in (("┌", "┬", "┐"), ("└", "┴", "┘"))]
    return [rules[0], *(_cells(row, width, gap) for row in cells), rules[1]]


def unit(layout: Layout) -> int:
    """Bytes per unit of the numbers: the itemsize if all strides are multiples of it, else 1."""
    whole = all(stride % layout.itemsize_bytes == 0 for stride in layout.strides_bytes)
    return layout.itemsize_bytes if whole else 1


def numbers(layout: Layout, most_columns: int) -> Cells:
    """Offsets of the shown elements from the block's lowest address, as text; "…" ends a cut axis."""
    shape, strides = layout.shape[-2:], layout.strides_bytes[-2:]
    if len(shape) == 1:
        shape, strides = (1, *shape), (0, *strides)
    low = sum((n - 1) * s for n, s in zip(shape, strides, strict=True) if s < 0)
    rows = [_cut(_row(shape[1], strides[1], i * strides[0] - low, unit(layout), most_columns), shape[1])
            for i in range(min(shape[0], MOST_ROWS))]  # fmt: skip
    if shape[0] > MOST_ROWS:
        rows[-1] = [MORE] * len(rows[-1])
    return rows


def _row(length: int, step: int, start: int, per: int, most: int) -> list[str]:
    return [str((start + j * step) // per) for j in range(min(length, most))]


def _cut(row: list[str], length: int) -> list[str]:
    return row if len(row) == length else [*row[:-1], MORE]


def _gap(layout: Layout) -> str:
    """Bytes skipped between elements of the only axis, as text; "" if none."""
    if len(layout.shape) != 1 or layout.shape == (1,):
        return ""
    jumped = abs(layout.strides_bytes[0]) - layout.itemsize_bytes
    return size(jumped) if jumped > 0 else ""


def _rule(count: int, width: int, gap: str, ends: tuple[str, str, str]) -> list[Span]:
    left, middle, right = ends
    if not gap:
        return [Span(left + middle.join(["─" * width] * count) + right)]
    between = f"{middle}{'╌' * (len(gap) + 2)}{middle}"
    return [Span(left + between.join(["─" * width] * count) + right)]


def _cells(row: list[str], width: int, gap: str) -> list[Span]:
    drawn = [Span("│")]
    for position, text in enumerate(row):
        if position and gap:
            drawn += [Span(f" {gap} ", "dim"), Span("│")]
        drawn += [Span(f"{text:>{width - 1}} "), Span("│")]
    return drawn


def _width(rows: list[list[Span]]) -> int:
    return sum(len(span.text) for span in rows[0])


def _noted(rows: list[list[Span]], note: str) -> list[tuple[Span, ...]]:
    """The note beside the first row of cells if it fits, else under the grid."""
    if _width(rows) + 3 + len(note) <= WIDEST:
        rows[1] = [*rows[1], Span(f"   {note}", "dim")]
        return [tuple(row) for row in rows]
    return [*(tuple(row) for row in rows), (Span(note, "dim"),)]


def _note(layout: Layout) -> str:
    in_bytes = unit(layout) == 1 < layout.itemsize_bytes
    counted = "numbers: byte offset" if in_bytes else "numbers: place in memory"
    if len(layout.shape) > 2:
        leading = len(layout.shape) - 2
        return f"{counted}, of x[{', '.join('0' * leading) if leading <= 3 else '0, …, 0'}]"
    return counted


def _alt(layout: Layout) -> str:
    steps = ", ".join(f"{stride} bytes along axis {axis}" for axis, stride in enumerate(layout.strides_bytes))
    return f"{' and '.join(layout.words) or 'strided'}: a step is {steps}."
