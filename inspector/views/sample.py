"""`python -m inspector.views.sample COLUMN` draws the sample of a view file: `sample layout`."""

# SPDX-License-Identifier: MIT
import importlib
import sys
from collections.abc import Sequence

from inspector.views.grammar import Block
from inspector.views.rows import Drawing
from inspector.views.to_text import plain_text, rich_text
from inspector.views.view import view


def draw(blocks: Sequence[Block]) -> None:
    """Print the blocks: on a terminal in colours at its width, else plain at 80 cells."""
    if not sys.stdout.isatty():
        sys.stdout.write(plain_text(blocks, Drawing()))
        return
    from rich.console import Console

    console = Console(highlight=False)
    console.print(*rich_text(blocks, Drawing(width=console.width), console.encoding), sep="\n")


def sample_of(column: str) -> tuple[Block, ...]:
    """What the view file of a column draws of its `sample` or `_sample`: a fact, several, or blocks."""
    names = vars(importlib.import_module(f"inspector.views.{column}"))
    made = names["sample" if "sample" in names else "_sample"]()
    drawn: list[Block] = []
    for part in made if isinstance(made, tuple) else (made,):
        drawn += (part,) if isinstance(part, Block) else view(part)
    return tuple(drawn)


if __name__ == "__main__":
    draw(sample_of(sys.argv[1]))
