"""Wraps, clips and pads rows of spans to a width in terminal cells."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from inspector.views.grammar import Span
from inspector.views.plain import cells

Row = tuple[Span, ...]
Letter = tuple[str, str]


def width_of(row: Iterable[Span]) -> int:
    """Terminal cells of a row."""
    return sum(cells(span.text) for span in row)


def wrapped(spans: Sequence[Span], width: int, hang: int) -> Iterator[Row]:
    """Break at blanks, and inside long words; later rows are indented by `hang` cells."""
    if width_of(spans) <= width:
        yield tuple(spans)
        return
    letters = [(letter, span.style) for span in spans for letter in span.text]
    lead = 0
    while letters:
        end = _break(letters, width - lead, hang - lead)
        yield (*_indent(lead), *_joined(_stripped(letters[:end])))
        letters = letters[end:]
        while letters and letters[0][0] == " ":
            letters.pop(0)
        lead = hang


def clipped(row: Sequence[Span], width: int) -> Row:
    """The row cut to `width` cells, marked with an ellipsis; a native name is cut in the middle."""
    if width_of(row) <= width:
        return tuple(row)
    letters = [(letter, span.style) for span in row for letter in span.text]
    if letters[0][1] == "native" and width > 8 and all(letter.isascii() for letter, _ in letters):
        tail = width * 3 // 5
        return _joined([*letters[: width - 1 - tail], ("…", "dim"), *letters[-tail:]])
    end = _fitting(letters, width - 1)
    return _joined([*letters[:end], ("…", "dim")])


def filled(row: Sequence[Span], width: int, right: bool = False) -> Row:
    """The row padded with blanks to `width` cells, on its left if `right`."""
    blank = _indent(width - width_of(row))
    return (*blank, *row) if right else (*row, *blank)


def _indent(count: int) -> Row:
    return (Span(" " * count),) if count > 0 else ()


def _fitting(letters: Sequence[Letter], room: int) -> int:
    used = 0
    for position, (letter, _) in enumerate(letters):
        used += cells(letter)
        if used > room:
            return position
    return len(letters)


def _break(letters: Sequence[Letter], room: int, label: int) -> int:
    """End of the row: the last blank that fits, after the label; else as much as fits, at least one."""
    end = _fitting(letters, room)
    if end == len(letters):
        return end
    blanks = (position for position in range(end, max(label, 0), -1) if letters[position][0] == " ")
    return next(blanks, max(end, 1))


def _stripped(letters: Sequence[Letter]) -> Sequence[Letter]:
    end = len(letters)
    while end and letters[end - 1][0] == " ":
        end -= 1
    return letters[:end]


def _joined(letters: Iterable[Letter]) -> Row:
    runs = groupby(letters, key=lambda letter: letter[1])
    return tuple(Span("".join(letter for letter, _ in run), style) for style, run in runs)
