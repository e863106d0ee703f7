"""Boxes and arrows as SVG: the container at the left, what it holds at the right, each object once."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator, Sequence
from html import escape
from typing import Final, NamedTuple

from inspector.facts.boxes import ContentBox, ContentSlot
from inspector.views.plain import cells, clipped, plain
from inspector.views.theme import css

CELL, ROW, GAP, COLUMN = 7.2, 19, 10, 76
"""Width of a character, height of a row, space between boxes, and between the columns; in pixels."""
PAD: Final = 8
MOST_CHARACTERS: Final = 30
INK = "var(--jp-content-font-color1, currentColor)"
LINE = "var(--jp-border-color1, light-dark(#b8bfc6, #4a525b))"
GROUND = "var(--jp-layout-color2, rgba(127,127,127,.1))"


class Placed(NamedTuple):
    """Where a box is drawn."""

    box: ContentBox
    weight: str
    x: float
    y: float
    width: float

    @property
    def height(self) -> float:
        """Of its title and its places."""
        return ROW * (1 + len(self.box.slots) + bool(self.box.slots and self.box.left_out))


def drawn(boxes: Sequence[ContentBox], weights: Sequence[str], alt: str) -> str:
    """One <svg> element, in the fonts and colours of the page. `weights`: the bytes of each box in words."""
    places = list(_placed(boxes, weights))
    width = max(one.x + one.width for one in places) + COLUMN / 2
    height = max(one.y + one.height for one in places) + 2
    arrows = "".join(
        _arrow(place, row, places[slot.box])
        for place in places
        for row, slot in enumerate(place.box.slots, 1)
        if slot.box >= 0
    )
    return picture(width, height, alt, f"{''.join(map(_box, places))}{arrows}")


def picture(width: float, height: float, alt: str, body: str) -> str:
    """One <svg> element with this body."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" role="img" '
        f'aria-label="{escape(plain(alt))}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" style="max-width:100%;font-size:12px;fill:{INK}">'
        f"{body}</svg>"
    )


def _placed(boxes: Sequence[ContentBox], weights: Sequence[str]) -> Iterator[Placed]:
    own, *others = boxes
    first = Placed(own, "", 1, 1, _width(own, ""))
    yield first
    y = 1.0
    for box, weight in zip(others, weights[1:], strict=True):
        place = Placed(box, weight, first.width + COLUMN, y, _width(box, weight))
        yield place
        y += place.height + GAP


def _width(box: ContentBox, weight: str) -> float:
    lines = [f"{_title(box)}  {weight}".rstrip(), *(f"{_key(slot)}  {slot.text}" for slot in box.slots)]
    return max(cells(line) for line in lines) * CELL + 2 * PAD


def _title(box: ContentBox) -> str:
    what = clipped(box.what, MOST_CHARACTERS)
    return f"{clipped(box.name, MOST_CHARACTERS)}  {what}" if box.name else what


def _key(slot: ContentSlot) -> str:
    return clipped(slot.key[1:-1], MOST_CHARACTERS)


def _box(place: Placed) -> str:
    """Its frame, its name and type, a row for each place."""
    x, y, box = place.x, place.y, place.box
    frame = f'x="{x:.1f}" y="{y:.1f}" width="{place.width:.1f}"'
    rows = "".join(
        words(x, y, row, _key(slot), "dim") + words(x + (cells(_key(slot)) + 2) * CELL, y, row, slot.text, "")
        for row, slot in enumerate(box.slots, 1)
    )
    if box.slots and box.left_out:
        rows += words(x, y, len(box.slots) + 1, f"… {box.left_out:,} more", "dim")
    name = clipped(box.name, MOST_CHARACTERS)
    title = words(x, y, 0, name, "name") if name else ""
    what = f"{clipped(box.what, MOST_CHARACTERS)}  {place.weight}".rstrip()
    title += words(x + (cells(name) + 2) * CELL * bool(name), y, 0, what, "dim")
    return (
        f'<rect {frame} height="{place.height:.1f}" rx="3" style="fill:none;stroke:{LINE}"/>'
        f'<rect {frame} height="{ROW}" rx="3" style="fill:{GROUND};stroke:{LINE}"/>{title}{rows}'
    )


def words(x: float, y: float, row: int, text: str, style: str) -> str:
    """A line of text in the code font, in a row of a box."""
    if not text:
        return ""
    colour = css(style).replace("color:", "fill:") if style else ""
    return (
        f'<text x="{x + PAD:.1f}" y="{y + row * ROW + 13.5:.1f}" textLength="{cells(text) * CELL:.1f}" '
        f'style="font-family:var(--jp-code-font-family, ui-monospace, monospace);white-space:pre;{colour}">'
        f"{escape(plain(text))}</text>"
    )


def _arrow(place: Placed, row: int, aim: Placed) -> str:
    """From a place to a box: to its left side from the left, else around to its right side."""
    x1, y1 = place.x + place.width - 6, place.y + (row + 0.5) * ROW
    forward = aim.x > place.x + place.width
    x2, y2 = (aim.x - 3 if forward else aim.x + aim.width + 3), aim.y + ROW / 2
    out = max(x1, x2) + COLUMN * 0.35
    bends = f"{x1 + COLUMN / 2:.1f} {y1:.1f} {x2 - COLUMN / 2:.1f} {y2:.1f}"
    bends = bends if forward else f"{out:.1f} {y1:.1f} {out:.1f} {y2:.1f}"
    tip = x2 - 6 if forward else x2 + 6
    colour = css("python")
    return (
        f'<circle cx="{x1:.1f}" cy="{y1:.1f}" r="2.5" style="{colour.replace("color:", "fill:")}"/>'
        f'<path d="M{x1:.1f} {y1:.1f} C{bends} {x2:.1f} {y2:.1f} '
        f'M{tip:.1f} {y2 - 4:.1f} L{x2:.1f} {y2:.1f} L{tip:.1f} {y2 + 4:.1f}" '
        f'style="fill:none;stroke-width:1.4;{colour.replace("color:", "stroke:")}"/>'
    )
