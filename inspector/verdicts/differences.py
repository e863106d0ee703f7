"""The first sentences about a cell: what its names hold more, what only shows older bytes, what grew."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator, Sequence
from typing import Any, Final

from inspector.facts.amounts import size
from inspector.facts.answers import Answer, Answers
from inspector.facts.heap import Difference, NameChange
from inspector.verdicts.answers.words import answer, code, listed

LEAST_BYTES: Final = 1_000
"""Names that hold less more are no news."""
LEAST_GROWN_BYTES: Final = 1_000_000
"""A process grows by less in any cell: allocators ask for memory in steps."""
MOST_NAMED: Final = 3


def with_answers(fact: Difference) -> dict[str, Any]:
    """The columns of a cell's report."""
    return {"answers": Answers(tuple(answers(fact))), "difference": fact}


def answers(fact: Difference) -> Iterator[Answer]:
    """What the cell left, most bytes first."""
    more = sum(map(_more, fact.names))
    beside = fact.resident_bytes - max(more, 0) if isinstance(fact.resident_bytes, int) else 0
    if beside >= max(LEAST_GROWN_BYTES, more):
        yield _beside(beside, fact)
    views = [row for row in fact.names if row.of]
    gone = [row for row in fact.names if row.change == "gone"]
    if more >= LEAST_BYTES or not (views or gone):
        yield _left(fact, more)
    if views:
        yield _shown(views)
    if gone:
        yield _gone(gone, fact.bytes - more)
    if LEAST_GROWN_BYTES <= beside < more:
        yield _beside(beside, fact)


def _more(row: NameChange) -> int:
    """Bytes of its own that a name holds more than before."""
    return row.bytes if row.change != "gone" and not row.of and isinstance(row.bytes, int) else 0


def _covered(fact: Difference) -> str:
    """What a sentence without a name leaves out."""
    return f"modules and code not counted{'' if fact.complete else ', nor what lies too deep'}"


def _left(fact: Difference, more: int) -> Answer:
    if more < LEAST_BYTES:
        text = f"No name holds {size(LEAST_BYTES)} more ({_covered(fact)})."
        return answer("names-hold-no-more", text, "difference.names")
    rows = sorted((row for row in fact.names if _more(row) > 0), key=_more, reverse=True)
    each = (f"{code(row.name)} {size(_more(row))}" for row in rows)
    text = f"Names hold {size(more)} more: {listed(each, MOST_NAMED)}."
    if len(rows) == 1:
        text = f"{code(rows[0].name)} holds {size(more)} more."
    about = tuple(row.name for row in rows)
    return answer("names-hold-more", text, "difference.names", about=about, costs_bytes=more)


def _shown(rows: Sequence[NameChange]) -> Answer:
    said = listed((f"{code(row.name)} shows bytes of {code(row.of)}" for row in rows), MOST_NAMED)
    about = tuple(row.name for row in rows)
    return answer("shows-older", f"{said}: nothing new.", "difference.names", about=about)


def _gone(rows: Sequence[NameChange], change: int) -> Answer:
    """Names that went; how much smaller the heap is, if they could be why."""
    held = sum(row.bytes for row in rows if isinstance(row.bytes, int))
    less = f"; the heap is {size(-change)} smaller" if 0 < held <= -change else ""
    names = listed((code(row.name) for row in rows), MOST_NAMED)
    text = f"{names} {'is' if len(rows) == 1 else 'are'} gone{less}."
    return answer("names-gone", text, "difference.names", about=tuple(row.name for row in rows))


def _beside(bytes_: int, fact: Difference) -> Answer:
    where = "`%inspect` says what is kept beyond names"
    text = f"The process grew by {size(bytes_)} that no name holds ({_covered(fact)}); {where}."
    return answer("grew-beside-names", text, "difference.resident_bytes", costs_bytes=bytes_)
