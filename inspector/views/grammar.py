"""What every view is made of: spans, lines, pictures, tables and folds. No colours, no widths.

A view turns a fact into a tuple of blocks; renderers (terminal, HTML, SVG) draw blocks. So each fact is
laid out once and looks the same everywhere. Styles are names: fact, dim, good, warn, danger, native, python.
A view writes its own spaces between spans (two before evidence); a renderer only adds the label column,
the flush-right note, line breaks and indents. Lines labelled "warn" are moved to the end of a card.
"""

from __future__ import annotations

from inspector.facts.record import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A run of text in one style."""

    text: str
    style: str = "fact"


@dataclass(frozen=True, slots=True)
class Line:
    """One fact a line: label on the left, value first, then evidence; `right` is flushed right."""

    label: str
    spans: tuple[Span, ...]
    right: tuple[Span, ...] = ()
    explain: str = ""
    """A sentence for `--explain`: what this line means."""
    link: str = ""
    """Where that is explained: a docs page and section, "docs/glossary.md#refcount"."""
    verbose: bool = False
    """Drawn only with `-v`: full addresses and other rare detail."""
    heading: bool = False
    """The first line of a card: its label is the name the user typed."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing in characters; every row as wide as it is. `alt` says it in a sentence."""

    rows: tuple[tuple[Span, ...], ...]
    alt: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings; `right_aligned` are column numbers."""

    columns: tuple[str, ...]
    rows: tuple[tuple[tuple[Span, ...], ...], ...]
    right_aligned: tuple[int, ...] = ()
    caption: str = ""
    """Under the table; a line break begins a new sentence's row."""


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks behind a summary; the terminal cuts to `shown` lines or table rows and counts the rest.

    In HTML it is closed unless everything fits in `shown`.
    """

    summary: Line
    blocks: tuple[Block, ...]
    shown: int = 6
    more: str = "--all"
    """The option that shows the rest."""


Block = Line | Picture | Table | Fold


def text(value: str, style: str = "fact") -> tuple[Span, ...]:
    """One span, as the tuple a Line wants."""
    return (Span(value, style),)
