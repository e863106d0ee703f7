"""Draws blocks as terminal text: plain lines, or rich Text with the theme's styles."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from inspector.views.grammar import Block
from inspector.views.plain import to_ascii
from inspector.views.rows import Drawing, rows

if TYPE_CHECKING:
    from rich.text import Text


def plain_text(blocks: Sequence[Block], drawing: Drawing, encoding: str = "utf-8") -> str:
    """The drawing without colours, one line per row; characters missing in `encoding` become ASCII."""
    lines = ("".join(span.text for span in row).rstrip() for row in rows(blocks, drawing))
    return "".join(f"{_encodable(line, encoding)}\n" for line in lines)


def rich_text(blocks: Sequence[Block], drawing: Drawing, encoding: str = "utf-8") -> Iterator[Text]:
    """The drawing as rich Text, one per row, styled by the theme."""
    from rich.text import Text

    from inspector.views.theme import TERMINAL

    for row in rows(blocks, drawing):
        text = Text(no_wrap=True, overflow="ignore", end="\n")
        for span in row:
            text.append(_encodable(span.text, encoding), TERMINAL.get(span.style, "none"))
        text.rstrip()
        yield text


def _encodable(text: str, encoding: str) -> str:
    if text.isascii():
        return text
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return to_ascii(text)
    return text
