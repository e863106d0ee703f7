"""The first sentence of breakpoints and of sampled stacks: which lines of the user's led there."""

# SPDX-License-Identifier: MIT
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from inspector.facts.amounts import counted
from inspector.facts.answers import Answer
from inspector.facts.nothing import Nothing
from inspector.facts.remote import Samples
from inspector.facts.stack import Frame, Hits
from inspector.verdicts.answers.words import answer, code
from inspector.verdicts.crash_words import is_own

MOST_LINES: Final = 3
IDLE: Final = 0.1
"""Share of a processor under which a process mostly waits."""


def of_hits(fact: Hits) -> Iterator[Answer]:
    """How often functions were called, from which lines; nothing where one without hits says why."""
    unknown = any(place.says and not place.hits for place in fact.places)
    if fact.at_startup or fact.of_python or unknown:
        return
    total = sum(place.hits for place in fact.places)
    names = " and ".join(code(place.place) for place in fact.places[:2])
    what = names if len(fact.places) <= 2 else counted(len(fact.places), "function")
    if not total:
        found = Nothing("the threads that were watched", "calls that a compiler inlined")
        text = f"No call of {what} was seen in {found}."
        yield answer("not-called", text, "breaks.places", certain=found.is_closed, nothing=found)
    elif fact.hits:
        lines = Counter(_own_line(hit.stack.frames) for hit in fact.hits)
        least = "At least " if any(place.says for place in fact.places) else ""
        seen = f"{least}{counted(total, 'call')} of {what}"
        part = f"; of {len(fact.hits):,} that were recorded" if len(fact.hits) < total else ""
        yield answer("called-from", f"{seen}{part}: {_from(lines)}.", "breaks.hits")


def of_samples(fact: Samples) -> Iterator[Answer]:
    """Where the process was most often, and whether it ran or waited there."""
    if not fact.stacks:
        return
    lines = Counter[str]()
    for one in fact.stacks:
        lines[_own_line(one.stack.frames)] += one.samples
    place, count = lines.most_common(1)[0]
    where = place or "code that is none of yours"
    share = f"{min(count / max(fact.rounds, 1), 1):.0%} of {counted(fact.rounds, 'sample')}"
    busy = fact.processor_s / fact.seconds
    runs = "it mostly waits" if busy < IDLE else "it runs"
    text = f"At {where} in {share}; {runs} ({busy:.0%} of a processor)."
    yield answer("sampled-at", text, "samples.stacks")


def _own_line(frames: Sequence[Frame]) -> str:
    """ "app.py:3": the innermost line that is not of an installed package; "" for none."""
    lines = (str(one.line) for one in frames if one.kind == "python" and not one.plumbing)
    return next((line.rpartition("/")[2] for line in lines if is_own(line)), "")


def _from(lines: Counter[str]) -> str:
    """ "2 from app.py:3, 1 from no line of yours"."""
    most = [f"{count:,} from {line or 'no line of yours'}" for line, count in lines.most_common(MOST_LINES)]
    more = counted(len(lines) - MOST_LINES, "other line")
    return ", ".join(most) + (f", the rest from {more}" if len(lines) > MOST_LINES else "")
