"""Claims of nothing, watched while all tests run: each says what was looked at (`facts.nothing.Nothing`)."""

# SPDX-License-Identifier: MIT
import re
from typing import Any

from inspector.facts.answers import Answer
from inspector.views.grammar import Line, Span

SAID = re.compile(r"(^|[;:,] )(no (byte|copy|fault|key|lazy|name|call|value)s?|nothing was|none was)\b", re.I)
"""What a sentence says where a search found none."""
SHOWN = re.compile(
    r"^(none( found| seen)?|nothing|no (byte|copy|value|fault|leak|owner|holder)s?\b.*|0 B copied.*)$"
)
"""What a line shows there."""
UNKNOWN = re.compile(r"\bnot known|is known\b", re.I)
"""A sentence that says what is not known claims nothing."""

found: list[str] = []


def bare(answer: Answer) -> bool:
    """Whether a sentence claims that there is none and does not say what was looked at.

    Advice says what would be; a test of its own applies it.
    """
    if answer.slug == "host-advice":
        return False
    return bool(SAID.search(answer.text)) and not _has_scope(answer) and not UNKNOWN.search(answer.text)


def _has_scope(answer: Answer) -> bool:
    return bool(answer.nothing) and all(scope.covered for scope in answer.nothing)


def is_bare(span: Span) -> bool:
    """Whether a run of text shows that there is none without `grammar.nothing`."""
    return span.style != "nothing" and bool(SHOWN.match(span.text.strip()))


def shows_bare(line: Line) -> bool:
    """Whether a line shows that there is none, and no claim in it has a scope."""
    return any(map(is_bare, line.spans)) and not any(span.style == "nothing" for span in line.spans)


def watch() -> None:
    """Note from now on each bare claim in `found`."""
    _after(Answer, lambda one: bare(one) and found.append(f"{one.slug}: {one.text}"))
    _after(Line, lambda one: shows_bare(one) and found.append(f"{one.label}: {one.spans}"))


def _after(kind: type, note: Any) -> None:
    made = kind.__init__

    def noted(self: Any, *given: Any, **named: Any) -> None:
        made(self, *given, **named)
        note(self)

    kind.__init__ = noted  # type: ignore[misc]
