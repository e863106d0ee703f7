"""`draw(blocks)`: what `python -m inspector.views.<column>` prints."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import sys
from collections.abc import Sequence

from inspector.views.grammar import Block
from inspector.views.rows import Drawing
from inspector.views.to_text import plain_text, rich_text


def draw(blocks: Sequence[Block]) -> None:
    """Print the blocks: on a terminal in colours at its width, else plain at 80 cells."""
    if not sys.stdout.isatty():
        sys.stdout.write(plain_text(blocks, Drawing()))
        return
    from rich.console import Console

    console = Console(highlight=False)
    console.print(*rich_text(blocks, Drawing(width=console.width), console.encoding), sep="\n")
