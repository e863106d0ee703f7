"""Draws blocks as an SVG picture: text on a grid, no external fonts or files, light and dark colours."""

# SPDX-License-Identifier: MIT
from collections.abc import Sequence
from html import escape

from inspector.views.grammar import Block
from inspector.views.plain import cells
from inspector.views.rows import Drawing, rows
from inspector.views.theme import BACKGROUND, BOLD, DARK, LIGHT
from inspector.views.wrap import Row

CELL_WIDTH = 8.4
CELL_HEIGHT = 17
FONT_SIZE = 14
MARGIN = 12


def to_svg(blocks: Sequence[Block], drawing: Drawing, title: str) -> str:
    """The drawing at `drawing.width` cells as one SVG document; lengths in user units (pixels)."""
    drawn = list(rows(blocks, drawing))
    width = round(drawing.width * CELL_WIDTH) + 2 * MARGIN
    height = len(drawn) * CELL_HEIGHT + 2 * MARGIN
    body = "\n".join(_row(row, number) for number, row in enumerate(drawn))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}"'
        f' role="img" aria-label="{escape(title)}">\n<style>{_style()}</style>\n'
        f'<rect class="back" width="100%" height="100%" rx="6"/>\n'
        f'<g xml:space="preserve">\n{body}\n</g>\n</svg>\n'
    )


def _row(row: Row, number: int) -> str:
    """One text element per span, pinned to its cell: box characters join in any font."""
    y = MARGIN + number * CELL_HEIGHT + FONT_SIZE
    column = 0
    parts = []
    for span in row:
        if text := span.text.strip(" "):
            x = MARGIN + (column + len(span.text) - len(span.text.lstrip(" "))) * CELL_WIDTH
            length = cells(text) * CELL_WIDTH
            parts.append(
                f'<text class="{escape(span.style)}" x="{x:.1f}" y="{y}" textLength="{length:.1f}"'
                f' lengthAdjust="spacingAndGlyphs">{escape(text)}</text>'
            )
        column += cells(span.text)
    return "".join(parts)


def _style() -> str:
    family = "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace"
    bold = ",".join(f".{name}" for name in sorted(BOLD))
    return (
        f"text{{font:{FONT_SIZE}px {family};white-space:pre;fill:{LIGHT['fact']}}}{bold}{{font-weight:bold}}"
        f".back{{fill:{BACKGROUND['light']}}}{_fills(LIGHT)}"
        f"@media (prefers-color-scheme:dark){{text{{fill:{DARK['fact']}}}.back{{fill:{BACKGROUND['dark']}}}"
        f"{_fills(DARK)}}}"
    )


def _fills(colours: dict[str, str]) -> str:
    return "".join(f".{name}{{fill:{colour}}}" for name, colour in colours.items())
