"""Answers: sentences that conclude from facts what the user came to ask."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Iterator

from inspector.facts.nothing import Nothing
from inspector.facts.record import dataclass
from inspector.facts.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Answer:
    """One sentence that answers a user's question, with what proves it."""

    slug: str
    """The kind of answer, "view-of": one word for tests, JSON and programs."""
    text: str
    """The sentence. Code and names stand between backticks: "A view of `a`: every 2nd row."."""
    certain: bool
    """False if the evidence allows another explanation; the sentence then says "probably" and why."""
    about: tuple[str, ...]
    """The user's names that it speaks of."""
    evidence: tuple[str, ...]
    """Fields of facts that prove it: "buffer.owner", "layout.strides"."""
    do: str
    """What to do about it, as code where possible; "" if there is nothing to do."""
    costs_bytes: int | Unknown
    """Bytes that the answer is about: kept alive, copied, not yet computed. 0 where it is about no bytes."""
    nothing: tuple[Nothing, ...] = ()
    """What was looked at, where the sentence says that there is none; () where it says what there is."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of one report, the most important first."""

    rows: tuple[Answer, ...]

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.rows)

    def __repr__(self) -> str:
        return f"<Answers: {' '.join(row.text for row in self.rows) or 'none'}>"
