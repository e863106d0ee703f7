"""The elements of every view: spans, lines, prose, pictures, tables and folds. No colours, no widths.

A view turns a fact into blocks; renderers (terminal, HTML, SVG) draw blocks, so a fact looks the same
everywhere. Styles are names: fact, nothing, dim, code, good, warn, danger, native, python. A view writes
the spaces between spans (two before evidence). A renderer adds the label column, the flush-right note, line
breaks and indents.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from inspector.facts.nothing import Nothing
from inspector.facts.record import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A run of text in one style."""

    text: str
    style: str = "fact"


@dataclass(frozen=True, slots=True)
class Line:
    """One fact per line: label, value, evidence; `right` is flushed right."""

    label: str
    spans: tuple[Span, ...]
    right: tuple[Span, ...] = ()
    explain: str = ""
    """A sentence for `--explain`: the meaning of the line."""
    link: str = ""
    """The docs page and section about it: "docs/glossary.md#refcount"."""
    verbose: bool = False
    """Drawn only with `-v`: full addresses and other rare detail."""
    heading: bool = False
    """The first line of a card: its label is the name the user typed."""


@dataclass(frozen=True, slots=True)
class Prose:
    """Sentences over the whole width, without a label."""

    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing in characters; rows are never wrapped. `alt` describes it in a sentence."""

    rows: tuple[tuple[Span, ...], ...]
    alt: str
    svg: str = ""
    """The same drawn in SVG, for a page: its text is escaped, its colours are CSS."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings; `right_aligned` are column numbers. The last cell of a shorter row is as wide as
    all columns that it leaves out."""

    columns: tuple[str, ...]
    rows: tuple[tuple[tuple[Span, ...], ...], ...]
    right_aligned: tuple[int, ...] = ()
    caption: str = ""
    """Text under the table; each line is a row of its own."""
    yielding: tuple[int, int] = (-1, 0)
    """(column, cells): the column that is cut first where the rows are too long, down to so many cells."""


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks under a summary; the terminal draws `shown` lines or table rows and counts the rest.

    HTML draws it closed unless everything fits in `shown`.
    """

    summary: Line
    blocks: tuple[Block, ...]
    shown: int = 6
    more: str = "--all"
    """The option that shows the rest."""
    unlisted: int = 0
    """How many more there are that no option shows."""


Block = Line | Prose | Picture | Table | Fold


def text(value: str, style: str = "fact") -> tuple[Span, ...]:
    """A tuple of one span, as a Line needs it."""
    return (Span(value, style),)


def nothing(found: Nothing, word: str = "none") -> tuple[Span, ...]:
    """A claim that there is none, with what was looked at, and what was not."""
    return (Span(word, "nothing"), Span(f"  in {found}", "dim"))
