"""Draws the hits of an R script: one stack a conversion, from the user's line through R's functions."""

# SPDX-License-Identifier: MIT
from collections import Counter
from collections.abc import Iterator, Sequence

from inspector.facts.amounts import counted
from inspector.facts.stack import Argument, Frame, Hit, Hits
from inspector.facts.unknown import Unknown
from inspector.views.grammar import Block, Line, Prose, Span, text

ROWS, WIDTH = 21, 68
"""Rows of all stacks by default, and columns of one."""
DOWN = ("py_to_r", "py_ref_to_r")
WITHIN_TRY = ("tryCatchList", "tryCatchOne", "doTryCatch")
"""What R's tryCatch consists of."""


def r_stacks(fact: Hits) -> tuple[Block, ...]:
    """The stacks, each with its expression."""
    stacks = list(_stacks(fact.hits))
    spent = next((place.says for place in fact.places if place.says.startswith("budget of ")), "")
    made: list[Block] = [Prose(text(_found(stacks, fact.at_startup, bool(spent))))]
    alike = _alike(stacks)
    fitting = _fitting(alike)
    for chains in sorted(alike[:fitting], key=lambda chains: chains[0][0].number):
        made += [_head(chains[0][-1], len(chains)), *_rows(chains[0])]
    if rest := alike[fitting:]:
        left = f"{counted(sum(map(len, rest)), 'more conversion')} on {counted(len(rest), 'stack')}"
        made.append(Line("", text(f"… {left} (--json)", "dim")))
    if spent:
        made.append(Line("dropped", text(f"{spent}; --budget records more", "warn")))
    elif fact.dropped:
        made.append(Line("dropped", text(f"{fact.dropped:,} hits were counted and not recorded", "warn")))
    if fact.ended:
        made.append(Line("warn", text(fact.ended, "warn")))
    return tuple(made)


def _found(stacks: list[list[Hit]], at_startup: int, is_part: bool) -> str:
    known = {_outermost(chain[-1]).line for chain in stacks}
    where = f"{counted(len(stacks), 'conversion')} in {counted(len(known), 'line')}"
    left = f"{counted(at_startup, 'hit')} of start-up and output left out (--startup)"
    return f"{'Recorded before the budget was spent: ' if is_part else ''}{where}; {left}."


def _alike(stacks: list[list[Hit]]) -> list[list[list[Hit]]]:
    """Conversions of one line through the same functions; each line's first ones before its others."""
    found: dict[tuple[object, tuple[str, ...]], list[list[Hit]]] = {}
    for chain in stacks:
        names = tuple(frame.function for frame in _calls(chain[-1]))
        found.setdefault((_outermost(chain[-1]).line, names), []).append(chain)
    seen = Counter[object]()
    rank = dict[object, int]()
    for key in found:
        rank[key] = seen[key[0]]
        seen[key[0]] += 1
    return [found[key] for key in sorted(found, key=rank.__getitem__)]


def _fitting(alike: list[list[list[Hit]]]) -> int:
    """How many stacks have room, at least one."""
    used = 0
    for at, chains in enumerate(alike):
        used += 1 + sum(_height(row) for row in _rows(chains[0]))
        if at and used > ROWS:
            return at
    return len(alike)


def _height(row: Line) -> int:
    return -(-sum(len(span.text) for span in (*row.spans, *row.right)) // WIDTH)


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


def _head(hit: Hit, times: int) -> Line:
    frame = _outermost(hit)
    place = "" if isinstance(frame.line, Unknown) else f"{frame.line}  "
    way = "Python → R" if hit.place in DOWN else "R → Python"
    return Line(
        "",
        (Span(place, "dim"), Span(frame.call or frame.function, "code")),
        text(f"{way} ×{times:,}" if times > 1 else way, "dim"),
    )


def _rows(chain: list[Hit]) -> Iterator[Line]:
    frames = _calls(chain[-1])
    of_r = [frame.function for frame in reversed(frames) if frame.kind == "r"]
    of_r = [name for name in of_r if name not in WITHIN_TRY]
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
