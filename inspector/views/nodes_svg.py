"""A compiled graph as SVG: inputs at the left, each node right of what it takes; copies are red."""

# SPDX-License-Identifier: MIT
from inspector.facts.amounts import size
from inspector.facts.nodes import GraphCall, NodeRun
from inspector.facts.unknown import Unknown
from inspector.views.boxes_svg import CELL, COLUMN, GAP, LINE, PAD, ROW, picture, words
from inspector.views.plain import cells, clipped
from inspector.views.theme import css

MOST_NODES = 60
"""A larger graph is not drawn."""
MOST_CHARACTERS = 24
STYLES = {"copied": "danger", "in place": "good", "view": "good"}
Place = tuple[float, float, float]
"""Left, top and width of a box."""


def drawn(call: GraphCall, alt: str) -> str:
    """One <svg> element; "" for a graph that is too large."""
    if not 0 < len(call.nodes) <= MOST_NODES:
        return ""
    boxes = _boxes(call)
    places = _places(call, boxes)
    right = max(x + width for x, _, width in places.values())
    lower = max(y for _, y, _ in places.values()) + 2 * ROW
    lines = [
        _arrow(places[taken], places[str(row.number)], _style(row))
        for row in call.nodes
        for taken in dict.fromkeys(row.takes)
        if taken in places
    ]
    shown = [_box(places[name], *box) for name, box in boxes.items()]
    return picture(right + 2, lower + 2, alt, "".join([*lines, *shown]))


def _boxes(call: GraphCall) -> dict[str, tuple[str, str, str]]:
    """Name as in `takes` -> (title, what was done, style); inputs that some node takes, and nodes."""
    taken = {name for row in call.nodes for name in row.takes}
    doors = [door for door in call.doors if door.side != "out" and door.name in taken]
    found = {door.name: (door.name, door.how, "danger" if door.bytes else "dim") for door in doors}
    for row in call.nodes:
        said = "not watched" if isinstance(row.made, Unknown) else row.made
        amount = "" if isinstance(row.bytes, Unknown) or not row.bytes else f" {size(row.bytes)}"
        found[str(row.number)] = (f"{row.number} {row.op}", f"{said}{amount}", _style(row))
    return found


def _style(row: NodeRun) -> str:
    return "danger" if row.breaches else STYLES.get(str(row.made), "dim")


def _places(call: GraphCall, boxes: dict[str, tuple[str, str, str]]) -> dict[str, Place]:
    """A column for each length of the longest way from an input."""
    depth = dict.fromkeys(boxes, 0)
    for row in call.nodes:  # in the order in which they ran
        depth[str(row.number)] = 1 + max((depth.get(name, 0) for name in row.takes), default=0)
    places: dict[str, Place] = {}
    left = 1.0
    for column in range(max(depth.values()) + 1):
        names = [name for name in boxes if depth[name] == column]
        widest = max((_width(boxes[name]) for name in names), default=-COLUMN)
        for at, name in enumerate(names):
            places[name] = (left, 1 + at * (2 * ROW + 2 * GAP), _width(boxes[name]))
        left += widest + COLUMN
    return places


def _width(box: tuple[str, str, str]) -> float:
    return max(cells(clipped(text, MOST_CHARACTERS)) for text in box[:2]) * CELL + 2 * PAD


def _box(place: Place, title: str, said: str, style: str) -> str:
    x, y, width = place
    stroke = LINE if style == "dim" else css(style).rpartition("color:")[2]
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{2 * ROW}" rx="3" '
        f'style="fill:none;stroke:{stroke}"/>{words(x, y, 0, clipped(title, MOST_CHARACTERS), "")}'
        f"{words(x, y, 1, clipped(said, MOST_CHARACTERS), style)}"
    )


def _arrow(start: Place, end: Place, style: str) -> str:
    x1, y1, x2, y2 = start[0] + start[2], start[1] + ROW, end[0] - 2, end[1] + ROW
    bend = max((x2 - x1) / 2, COLUMN / 2)
    return (
        f'<path d="M{x1:.1f} {y1:.1f} C{x1 + bend:.1f} {y1:.1f} {x2 - bend:.1f} {y2:.1f} {x2:.1f} {y2:.1f} '
        f'M{x2 - 6:.1f} {y2 - 4:.1f} L{x2:.1f} {y2:.1f} L{x2 - 6:.1f} {y2 + 4:.1f}" '
        f'style="fill:none;stroke-width:1.3;stroke:{css(style).rpartition("color:")[2]}"/>'
    )
