"""Draws the hits of an R script: one stack a conversion, from the user's line through R's functions."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator, Sequence

from inspector.facts.amounts import counted
from inspector.facts.stack import Argument, Frame, Hit, Hits
from inspector.facts.unknown import Unknown
from inspector.views.grammar import Block, Line, Prose, Span, text

MOST = 4
"""Stacks by default."""
DOWN = ("py_to_r", "py_ref_to_r")


def r_stacks(fact: Hits) -> tuple[Block, ...]:
    """The stacks, each with its expression."""
    stacks = list(_stacks(fact.hits))
    known = {_outermost(chain[-1]).line for chain in stacks}
    where = f"{counted(len(stacks), 'conversion')} in {counted(len(known), 'line')}"
    left = f"{counted(fact.at_startup, 'hit')} of start-up and output left out (--startup)"
    made: list[Block] = [Prose(text(f"{where}; {left}."))]
    for chain in stacks[:MOST]:
        made += [_head(chain[-1]), *_rows(chain)]
    if len(stacks) > MOST:
        made.append(Line("", text(f"… {counted(len(stacks) - MOST, 'more conversion')} (--json)", "dim")))
    if fact.dropped:
        made.append(Line("dropped", text(f"{fact.dropped:,} hits were counted and not recorded", "warn")))
    if fact.ended:
        made.append(Line("warn", text(fact.ended, "warn")))
    return tuple(made)


def _outermost(hit: Hit) -> Frame:
    """The R function that the expression called."""
    return next(frame for frame in reversed(hit.stack.frames) if frame.kind == "r")


def _calls(hit: Hit) -> list[Frame]:
    return [frame for frame in hit.stack.frames if not frame.plumbing]


def _stacks(hits: Sequence[Hit]) -> Iterator[list[Hit]]:
    """Hits that lie in each other, outermost first: one conversion."""
    chain: list[Hit] = []
    for hit in hits:
        if chain and not _is_inside(hit, chain[-1]):
            yield chain
            chain = []
        chain.append(hit)
    if chain:
        yield chain


def _is_inside(hit: Hit, outer: Hit) -> bool:
    """Whether the frames of `outer` are the outer ones of this hit."""
    frames, around = _calls(hit), _calls(outer)
    more = len(frames) - len(around)
    return more > 0 and frames[more : more + 4] == around[:4]


def _head(hit: Hit) -> Line:
    frame = _outermost(hit)
    place = "" if isinstance(frame.line, Unknown) else f"{frame.line}  "
    way = "Python → R" if hit.place in DOWN else "R → Python"
    return Line("", (Span(place, "dim"), Span(frame.call or frame.function, "code")), text(way, "dim"))


def _rows(chain: list[Hit]) -> Iterator[Line]:
    frames = _calls(chain[-1])
    of_r = [frame.function for frame in reversed(frames) if frame.kind == "r"]
    yield Line("R", text(" → ".join(dict.fromkeys(of_r)), "python"))
    inner = next(at for at, frame in enumerate(frames) if frame.kind == "r")
    left = list(chain)
    for frame in reversed(frames[:inner]):
        name = frame.function.partition("(")[0]
        own = next((hit for hit in left if hit.place == name), None)
        if own is not None:
            left.remove(own)
        where = "" if isinstance(frame.line, Unknown) else frame.line
        yield Line("C++", text(f"{name}{_arguments(own)}", "native"), text(where, "dim"))


def _arguments(hit: Hit | None) -> str:
    """(x = float 1.0, convert = TRUE); addresses say nothing to anybody."""
    if hit is None or isinstance(hit.arguments, Unknown):
        return ""
    said = [f"{one.name} = {_value(one)}" for one in hit.arguments if not str(one.value).startswith("0x")]
    return f"({', '.join(said)})" if said else ""


def _value(one: Argument) -> str:
    return {"true": "TRUE", "false": "FALSE"}.get(str(one.value), str(one.value))
