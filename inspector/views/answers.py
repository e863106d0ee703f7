"""Draws answers: sentences whose code stands out, the most important first."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterable, Iterator

from inspector.facts.answers import Answer, Answers
from inspector.views.grammar import Block, Line, Prose, Span
from inspector.views.view import blocks

IN_HEAD = 3
"""Most answers that stand in the head of a card; the others are rows."""
ROWS = {"c-code-copies": "to C code", "host-advice": "instead"}
"""Answer -> label of its row, for those that never stand in the head."""


@blocks.register
def answers(fact: Answers) -> tuple[Block, ...]:
    """The head, then the rows."""
    return (*head(fact), *rows(fact))


def head(fact: Answers) -> tuple[Block, ...]:
    """What the object is, on a line of its own; then what follows from it."""
    first, *others = in_head(fact) or (None,)
    if first is None:
        return ()
    said = Prose(sentence(first))
    return (said, Prose(_joined(others))) if others else (said,)


def in_head(fact: Answers) -> tuple[Answer, ...]:
    """The answers that stand in the head of a card."""
    return tuple(row for row in fact.rows if row.slug not in ROWS)[:IN_HEAD]


def rows(fact: Answers) -> tuple[Block, ...]:
    """The answers that are rows of a card."""
    told = in_head(fact)
    return tuple(Line(ROWS.get(row.slug, "also"), sentence(row)) for row in fact.rows if row not in told)


def advised(fact: Answers, most: int = 3) -> tuple[Block, ...]:
    """What to write instead, by line."""
    rows = [row for row in fact.rows if row.slug == "host-advice"][:most]
    label = ROWS["host-advice"]
    return tuple(
        Line("" if at else label, (Span(f"{row.do}  ", "dim"), *sentence(row))) for at, row in enumerate(rows)
    )


def sentence(row: Answer) -> tuple[Span, ...]:
    """The text as spans, with the code style between backticks; a danger has its slug, for its page."""
    page = (Span(f" ({row.slug})", "dim"),) if row.evidence == ("materialization.findings",) else ()
    return (*coded(row.text), *page)


def coded(text: str) -> tuple[Span, ...]:
    """A sentence as spans: what stands between backticks has the code style."""
    return tuple(_spans(text))


def _spans(text: str) -> Iterator[Span]:
    for number, part in enumerate(text.split("`")):
        if part:
            yield Span(part, "code" if number % 2 else "fact")


def _joined(told: Iterable[Answer]) -> tuple[Span, ...]:
    found: list[Span] = []
    for row in told:
        found += [Span(" "), *sentence(row)] if found else sentence(row)
    return tuple(found)
