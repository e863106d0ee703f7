"""The card: a headline that says what the object is, then the facts of one report in order."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from inspector.facts.amounts import counted
from inspector.facts.answers import Answers
from inspector.facts.hosted import Hosted
from inspector.facts.leaks import Leaks
from inspector.facts.statements import Statements
from inspector.facts.unknown import Unknown
from inspector.views.answers import advised, head
from inspector.views.answers import rows as answered
from inspector.views.brief import brief
from inspector.views.conversion import copied_rows
from inspector.views.converted import EVERY_ROW, MOST_ROWS, host_lines
from inspector.views.grammar import Block, Fold, Line, Span
from inspector.views.hosted import MOST_LINES, own_lines
from inspector.views.leaks import below_answers
from inspector.views.lit import lit
from inspector.views.plain import clipped
from inspector.views.r_object import title as r_title
from inspector.views.statements import MOST_ROWS as MOST_STATEMENTS
from inspector.views.statements import source_lines
from inspector.views.view import view
from inspector.views.waits import hanging

ORDER = (
    "object",
    "refs",
    "owners",
    "type",
    "module",
    "builtin",
    "buffer",
    "layout",
    "parts",
    "materialization",
    "lazy",
    "r_object",
)

MOST_VALUE, LEAST_VALUE, MOST_HEAD = 48, 16, 68
"""Characters of a value in the headline, and of the headline after a name of LABEL characters or fewer."""
LABEL = 8

LATE = ("speaks", "library", "warn")
"""Labels of lines that are moved to the end of a card, in this order."""


MORE = {
    "materialization": "layers, pages",
    "buffer": "protocols",
    "layout": "elements",
    "object": "type",
}
"""Column -> what the fold of a short card has of it."""

_WHOLE = ("leaks", "stop", "crash", "lazy_trace", "r_memory", "contract", "crossed")
"""Columns that are short as they are: sentences above them, nothing folded."""


def card(name: str, facts: Mapping[str, Any], everything: bool = True) -> tuple[Block, ...]:
    """The headline, the answers, then each column's blocks, then the LATE lines.

    Without `everything` a card that has answers is short: the rows that prove them, and a fold with the rest.
    """
    told = facts.get("answers")
    if not isinstance(told, Answers):
        return (*_headline(name, facts), *sorted(_columns(facts), key=_lateness))
    rest = {column: fact for column, fact in facts.items() if column != "answers"}
    if "difference" in facts:
        return (*head(told), *_column("difference", rest["difference"]))
    if "waits" in facts:
        return (*head(told), *hanging(rest, everything))
    if any(column in facts for column in _WHOLE):
        leaks = facts.get("leaks")
        below = below_answers(leaks) if isinstance(leaks, Leaks) else _columns(rest)
        return (*head(told), *below, *advised(told))
    if "trace" in facts:
        return (*head(told), *_of_trace(rest, everything, told))
    whole = sorted(_columns(rest), key=_lateness)
    top = (*(replace(line, right=()) for line in _headline(name, facts)), *head(told))
    if everything:
        return (*top, *answered(told), *whole)
    kinds = ", ".join(words for column, words in MORE.items() if column in facts)
    more = Line("more", (Span(kinds, "dim"),), (Span("--all", "dim"),))
    folded = (Fold(more, tuple(whole), shown=0),) if whole else ()
    return (*top, *brief(facts, _column), *folded)


def _of_trace(facts: Mapping[str, Any], everything: bool, told: Answers) -> Iterator[Block]:
    """The lines of the host, or the statements; the calls, modules and counters in a fold."""
    statements, trace = facts.get("statements"), facts["trace"]
    hosted = getattr(trace, "hosted", None)
    lines = getattr(hosted, "lines", None)
    if lines is not None and lines.language:
        yield from host_lines(lines, EVERY_ROW if everything else MOST_ROWS)
        yield from advised(told)
        statements = statements if everything else None
    has_lines = isinstance(hosted, Hosted) and bool(hosted.own_lines)
    if isinstance(hosted, Hosted) and not everything:
        yield from own_lines(hosted, MOST_LINES)
    if isinstance(statements, Statements):
        yield from source_lines(statements, EVERY_ROW if everything else MOST_STATEMENTS)
    elif statements is not None:
        yield from _column("statements", statements)
    if "nodes" in facts:
        yield from _column("nodes", facts["nodes"])
    whole = _column("trace", trace)
    nobodys = statements is not None and not statements.rows
    if everything or (nobodys and not has_lines and getattr(hosted, "calls", None)):
        yield from whole
        return
    if nobodys and not isinstance(trace, Unknown):
        yield from copied_rows(trace)
    kinds = Span("calls, copies one by one, modules", "dim")
    yield Fold(Line("more", (kinds,), (Span("--all", "dim"),)), whole, 0)


def _lateness(block: Block) -> int:
    line = block.summary if isinstance(block, Fold) else block
    return LATE.index(line.label) + 1 if isinstance(line, Line) and line.label in LATE else 0


def _columns(facts: Mapping[str, Any]) -> Iterator[Block]:
    first = [column for column in ORDER if column in facts]
    for column in [*first, *(column for column in facts if column not in ORDER)]:
        yield from _column(column, facts[column])
        if column == "layout":
            yield from lit(facts)


def _column(column: str, fact: Any) -> tuple[Block, ...]:
    """A column's blocks; if it is unknown or cannot be drawn, a line with the reason."""
    if not isinstance(fact, Unknown):
        try:
            return _unrepeated(column, view(fact))
        except Exception as error:
            fact = Unknown(f"it could not be drawn: {type(error).__name__} in its view")
    return (Line(column, (Span(str(fact), "warn"),), explain="This column could not be determined."),)


def _unrepeated(column: str, blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """Drop what is already drawn: the layout's words (headline), a lazy vector's state (state line)."""
    if column == "lazy":
        return blocks[1:]
    if column == "layout" and blocks and isinstance(blocks[0], Line):
        return (replace(blocks[0], right=()), *blocks[1:])
    return blocks


def _headline(name: str, facts: Mapping[str, Any]) -> Iterator[Line]:
    """The first line of a card about one object; a census or a difference has its own heading."""
    found = facts.get("object")
    if found is None or isinstance(found, Unknown):
        if "r_object" in facts:
            yield Line(name, (Span(r_title(facts["r_object"])),), heading=True)
        elif "refs" in facts or "object" in facts:
            yield Line(name, (), heading=True)
        return
    room = MOST_HEAD - max(len(name) - LABEL, 0)
    yield Line(name, (*_what(found, facts, room),), right=_note(facts), heading=True)


def _what(found: Any, facts: Mapping[str, Any], most: int) -> Iterator[Span]:
    """The short type name and the size: dtype and shape, columns or items; and the value, in a line."""
    kind, size = f"{short(found.type_name)} ", _size(found, facts)
    yield from (Span(kind), Span(size))
    if not isinstance(found.preview, Unknown):
        room = max(most - len(kind) - len(size), LEAST_VALUE)
        yield Span(f" {clipped(found.preview, min(room, MOST_VALUE))}")


def _size(found: Any, facts: Mapping[str, Any]) -> str:
    layout, parts = facts.get("layout"), facts.get("parts")
    if layout is not None and not isinstance(layout, Unknown):
        return f"{layout.format} {layout.shape}"
    if parts is not None and not isinstance(parts, Unknown):
        return f"({counted(parts.total, 'column')})"
    if not isinstance(found.length, Unknown):
        return f"({counted(found.length, 'item')})"
    return _told(found, facts.get("materialization"))


def _told(found: Any, fact: Any) -> str:
    """What the library's adapter adds to the type's name: "RGB 300 x 200" of an image."""
    layers = getattr(fact, "layers", ())
    of_type, _, more = layers[0].what.partition(" ") if layers else ("", "", "")
    return more if of_type == short(found.type_name) else ""


def _note(facts: Mapping[str, Any]) -> tuple[Span, ...]:
    """View or owner, and the memory order; else whether it is immortal."""
    words: list[str] = []
    buffer, layout = facts.get("buffer"), facts.get("layout")
    if buffer is not None and not isinstance(buffer, Unknown) and not isinstance(buffer.owns, Unknown):
        words.append("owner" if buffer.owns else "view")
    if layout is not None and not isinstance(layout, Unknown):
        words += layout.words
    if not words and facts["object"].immortal:
        words.append("immortal")
    return (Span(" · ".join(words)),) if words else ()


def short(type_name: str) -> str:
    """A type's name without its module."""
    return type_name.rpartition(".")[2] or type_name
