"""Draws the elements of a view within the grid of the array that it is a view of."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from inspector.facts.buffer import Buffer, Exposure, Holder
from inspector.facts.layout import Layout
from inspector.facts.unknown import Unknown
from inspector.views.grammar import Line, Picture, Span
from inspector.views.grid import MORE, WIDEST, boxed

ROWS: Final = 5
COLUMNS: Final = 8
DARK: Final = "·"
"""An element that the view does not show."""


class _Grid(NamedTuple):
    """Elements by address: of an array with one or two axes, or of a view with any number."""

    first: int
    shape: tuple[int, ...]
    steps: tuple[int, ...]

    def holds(self, address: int) -> bool:
        """Whether an element begins there."""
        axes = sorted(zip(self.steps, self.shape, strict=True), key=lambda axis: -abs(axis[0]))
        rest = address - self.first - sum(step * (length - 1) for step, length in axes if step < 0)
        for step, length in axes:
            if step and rest > 0:
                rest -= min(rest // abs(step), length - 1) * abs(step)
        return rest == 0


class Lit(NamedTuple):
    """The part of a base's grid that is drawn: the numbers of the elements that a view shows, else DARK."""

    name: str
    shape: tuple[int, ...]
    corner: tuple[int, int]
    cells: list[list[str]]
    is_named: bool
    """Whether the user has a name for the base."""


def lit(facts: Mapping[str, Any]) -> Iterator[Line | Picture]:
    """The grid of the base, with the numbers of the elements that the view shows; () if it is no view."""
    found = grid_of_base(facts, ROWS, COLUMNS)
    if found is None:
        return
    name, shape, corner, cells, _ = found
    rows, columns = (1, *shape)[-2:]
    yield Line("in", (Span(name, "name"), Span(f"  {shape}, its elements by number", "dim")))
    drawn = boxed(_ended(cells, corner, rows, columns))
    shown = sum(cell != DARK for line in cells for cell in line)
    seen = f"Of the {sum(map(len, cells)):,} elements of {name} that are drawn it shows {shown:,}"
    yield Picture(tuple(map(tuple, drawn)), alt=f"{seen}: every cell that has a number.")


def grid_of_base(facts: Mapping[str, Any], most_rows: int, most_columns: int) -> Lit | None:
    """Which elements of its base a view shows, around its first one; None if it is no view of a grid."""
    layout, buffer = facts.get("layout"), facts.get("buffer")
    if not isinstance(layout, Layout) or not isinstance(buffer, Buffer):
        return None
    base = next((one for one in buffer.holders if _is_plain(one, layout)), None)
    first = next((row.exposure.address for row in buffer.spoken if isinstance(row.exposure, Exposure)), None)
    if base is None or first is None or 0 in layout.shape or not layout.shape:
        return None
    view = _Grid(first, layout.shape, layout.strides_bytes)
    rows, columns = (1, *base.shape)[-2:]
    down, across = (0, *base.strides_bytes)[-2:]
    if isinstance(base.first, Unknown) or not (down > 0 or rows == 1) or across <= 0:
        return None
    row, column = divmod(first - base.first, down) if rows > 1 else (0, first - base.first)
    wide = most_columns
    if most_columns == COLUMNS:  # as text, with the numbers
        wide = min(COLUMNS, WIDEST // (len(str(rows * columns)) + 3) - 2)
    corner = max(0, min(row - 1, rows - most_rows)), max(0, min(column // across - 1, columns - wide))
    cells = [
        [
            str(i * columns + j) if view.holds(base.first + i * down + j * across) else DARK
            for j in range(corner[1], min(columns, corner[1] + wide))
        ]
        for i in range(corner[0], min(rows, corner[0] + most_rows))
    ]
    named = bool(base.shown_by) or base.name != base.type_name
    return Lit(base.shown_by or base.name, base.shape, corner, cells, named)


def _is_plain(base: Holder, layout: Layout) -> bool:
    """Whether its grid can be drawn, and has elements as large as the view's."""
    return 1 <= len(base.shape) <= 2 and base.itemsize_bytes == layout.itemsize_bytes and 0 not in base.shape


def _ended(cells: list[list[str]], corner: tuple[int, int], rows: int, columns: int) -> list[list[str]]:
    """With an ellipsis where the grid goes on."""
    before, after = corner[1] > 0, corner[1] + len(cells[0]) < columns
    wide = [[*[MORE] * before, *row, *[MORE] * after] for row in cells]
    line = [MORE] * len(wide[0])
    return [*[line] * (corner[0] > 0), *wide, *[line] * (corner[0] + len(cells) < rows)]
