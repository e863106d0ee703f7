"""Draws a container as boxes and arrows: a row for each place in a terminal, SVG in a page."""

# SPDX-License-Identifier: MIT
from collections import Counter
from collections.abc import Mapping, Sequence

from inspector.facts.boxes import ContentBox, ContentSlot
from inspector.facts.unknown import Address
from inspector.views.amounts import size
from inspector.views.boxes_svg import drawn
from inspector.views.grammar import Picture, Span
from inspector.views.plain import clipped

NUMBERS = "①②③④⑤⑥⑦⑧⑨⑩"
MOST_KEY, MOST_WHAT, MOST_INSIDE = 20, 34, 30
"""Characters of a key, of an object's words, and of what it holds itself."""


def pictured(boxes: Sequence[ContentBox], bytes_: Mapping[Address, int]) -> Picture:
    """The drawing. `bytes_`: address of what a place holds -> its bytes with what it holds first."""
    own, *_ = boxes
    aims = Counter(slot.box for box in boxes for slot in box.slots if slot.box >= 0)
    shared = [number for number, count in aims.items() if count > 1]
    marks = dict(zip(shared, NUMBERS, strict=False))
    widest = max(len(slot.key) for slot in own.slots)
    told: set[int] = set()
    rows = []
    for slot in own.slots:
        key = Span(f"{clipped(slot.key, MOST_KEY):{min(widest, MOST_KEY)}}", "code")
        rows.append((key, *_aim(slot, boxes, marks, bytes_, told)))
        told.add(slot.box)
    weights = [size(bytes_.get(box.address, 0)) * (box.address in bytes_) for box in boxes]
    return Picture(tuple(rows), _alt(boxes), drawn(boxes, weights, _alt(boxes)))


def _aim(
    slot: ContentSlot,
    boxes: Sequence[ContentBox],
    marks: Mapping[int, str],
    bytes_: Mapping[Address, int],
    told: set[int],
) -> tuple[Span, ...]:
    """What a place holds: a constant, an object with what it holds, or one that is drawn already."""
    if slot.box < 0:
        return (Span(f"    {slot.text}"),)
    box, mark = boxes[slot.box], f"{marks[slot.box]} " if slot.box in marks else ""
    arrow = Span(" ─▸ ", "python")
    if slot.box == 0:
        return (arrow, Span("itself", "python"))
    if slot.box in told:
        return (arrow, Span(mark.strip() or clipped(box.what, MOST_WHAT), "python"))
    weight = bytes_.get(box.address, 0)
    return (
        arrow,
        Span(mark, "python"),
        Span(clipped(box.what, MOST_WHAT)),
        Span(f"  {box.name}" if box.name else "", "code"),
        Span(f"  {size(weight)}" if weight else "", "dim"),
        *_inside(box, boxes, marks),
    )


def _inside(box: ContentBox, boxes: Sequence[ContentBox], marks: Mapping[int, str]) -> tuple[Span, ...]:
    """What an object holds itself, in a few words."""
    if not box.slots:
        return ()
    keyed = any(slot.key.startswith(("['", '["')) for slot in box.slots)
    words = [f"{f'{slot.key[1:-1]}: ' if keyed else ''}{_held(slot, boxes, marks)}" for slot in box.slots]
    return (Span(f"  {clipped(', '.join(words) + (' …' if box.left_out else ''), MOST_INSIDE)}", "dim"),)


def _held(slot: ContentSlot, boxes: Sequence[ContentBox], marks: Mapping[int, str]) -> str:
    if slot.box < 0:
        return slot.text
    return marks.get(slot.box) or boxes[slot.box].name or "itself"


def _alt(boxes: Sequence[ContentBox]) -> str:
    """The drawing in a sentence."""
    own, *_ = boxes
    told = "; ".join(f"{slot.key} {_aim_words(slot, boxes)}" for slot in own.slots)
    return f"{own.what}: {told}"


def _aim_words(slot: ContentSlot, boxes: Sequence[ContentBox]) -> str:
    aim = boxes[slot.box]
    if slot.box < 0:
        return f"is {slot.text}"
    held = ", ".join(
        f"{one.key} {one.text or boxes[one.box].name or boxes[one.box].what}" for one in aim.slots
    )
    return f"refers to {aim.name or aim.what}{f' with {held}' if held and slot.box else ''}"
