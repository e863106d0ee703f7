"""Draws stacks with native and Python frames in one order, and breakpoint hits, equal ones merged."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import PurePath

from inspector.facts.amounts import counted
from inspector.facts.stack import Frame, Hit, Hits, Stack, Stacks, Stop
from inspector.facts.unknown import Unknown
from inspector.views.grammar import Block, Fold, Line, Prose, Span, Table, text
from inspector.views.r_stacks import r_stacks
from inspector.views.view import blocks

_SHOWN = 12
_ALIKE = 12
"""Number of innermost frames by which hits with a cut stack are compared."""
_GROUPS, _HOST_GROUPS = 8, 4
_VALUES = 3
_ROOM = 66
"""Columns for a function and its line."""
_LINK = "docs/reference/debugging.md#hits"
_MEANING = "Each hit of a breakpoint: arguments, then native (C) and Python (Py) frames in one order."

Row = tuple[tuple[Span, ...], ...]


@blocks.register
def _hits(fact: Hits) -> tuple[Block, ...]:
    if fact.at_startup:
        return r_stacks(fact)
    groups = list(_groups(fact.hits))
    made: list[Block] = [_of_host(fact, groups) if fact.of_python else _places(fact)]
    most = _HOST_GROUPS if fact.of_python else _GROUPS
    made += [_group(group) for group in groups[:most]]
    if len(groups) > most:
        rest = sum(len(group) for group in groups[most:])
        more = f"… {rest:,} hits more on {len(groups) - most:,} other stacks (--json)"
        made.append(Line("", text(more, "dim")))
    if fact.dropped:
        made.append(Line("dropped", text(f"{fact.dropped:,} hits were counted and not recorded", "warn")))
    if fact.ended:
        made.append(Line("warn", text(fact.ended, "warn")))
    return tuple(made)


def _of_host(fact: Hits, groups: list[list[Hit]]) -> Block:
    """How often the host's own code entered Python, and what was left out."""
    left = f"{counted(fact.of_python, 'hit')} of Python's own code left out (--startup)"
    count = f"{counted(len(fact.hits), 'call')} into Python on {counted(len(groups), 'stack')}"
    return Prose(text(f"{count}; {left}."))


def _places(fact: Hits) -> Fold:
    """The places with their hits."""
    total = sum(place.hits for place in fact.places)
    says = f"{counted(total, 'hit')} of {counted(len(fact.places), 'place')}"
    spent = f"attached in {fact.frozen_ns / 1e9:.2f} s · {fact.stopped_ns / 1e6:,.0f} ms at hits"
    spent = spent if fact.means == "gdb" else fact.means
    rows = tuple(_place(place.place, place.hits, place.locations, place.says) for place in fact.places)
    return Fold(
        Line("breaks", text(says), text(spent, "dim"), _MEANING, _LINK),
        (Table(("", "", ""), rows, (1,)),),
        20,
    )


def _place(name: str, hits: int, locations: int, says: str) -> Row:
    where = "" if locations == 1 and not says else counted(locations, "location") if locations else ""
    note = " · ".join(part for part in (where, says) if part)
    return (text(name, "native"), text(f"{hits:,}"), text(note, "warn" if says else "dim"))


def _groups(hits: Iterable[Hit]) -> Iterator[list[Hit]]:
    """Hits of one place with the same frames (plumbing ignored), the most frequent first.

    CPython 3.12+ specializes a repeated call: its second hit has one frame less, and a cut stack then shows
    one more frame at its outer end.
    """
    found: dict[tuple[str, tuple[Frame, ...]], list[Hit]] = {}
    for hit in hits:
        calls = tuple(frame for frame in hit.stack.frames if not frame.plumbing)
        found.setdefault((hit.place, calls[:_ALIKE] if hit.stack.cut else calls), []).append(hit)
    yield from sorted(found.values(), key=len, reverse=True)


def _group(hits: list[Hit]) -> Fold:
    first = hits[0]
    said = _arguments(hits)
    spans = (Span(first.place, "native"), *((Span(f" ({said})"),) if said else ()))
    thread = f"thread {first.stack.thread_id} {first.stack.name}".rstrip()
    note = f"×{len(hits):,}" if len(hits) > 1 else thread
    return Fold(Line(f"hit {first.number}", spans, text(note, "dim")), (stack_table(first.stack),), _SHOWN)


def _arguments(hits: list[Hit]) -> str:
    """name=value of each argument; if values differ, those of the first few hits."""
    first = hits[0].arguments
    if isinstance(first, Unknown):
        return ""
    return ", ".join(f"{argument.name}={_values(hits, i)}" for i, argument in enumerate(first))


def _values(hits: list[Hit], position: int) -> str:
    said: list[str] = []
    for hit in hits:
        if not isinstance(hit.arguments, Unknown) and (one := str(hit.arguments[position].value)) not in said:
            said.append(one)
        if len(said) > _VALUES:
            return " | ".join(said[:_VALUES]) + " | …"
    return " | ".join(said)


@blocks.register
def _stack(fact: Stack) -> tuple[Block, ...]:
    return (Fold(_thread(fact), (stack_table(fact),), 40),)


@blocks.register
def _stop(fact: Stop) -> tuple[Block, ...]:
    where = "" if isinstance(fact.line, Unknown) else short_line(fact.line)
    spans = (Span(fact.function, "native"), Span(f"  {where}", "dim"))
    made: list[Block] = [
        Line("stopped", spans, text(fact.reason or "still", "warn"), link="docs/reference/debugging.md#step")
    ]
    made += [_lines_around(fact)] if fact.source and not isinstance(fact.line, Unknown) else []
    made += [
        Line("says", (Span(f"{said.name} = {said.value}"), Span(f"  {said.type_name}", "dim")))
        for said in fact.says
    ]
    if fact.variables:
        rows = tuple(
            (text(one.name), text(str(one.value)), text(one.type_name, "dim")) for one in fact.variables
        )
        made.append(
            Fold(Line("locals", text(counted(len(rows), "variable"))), (Table(("", "", ""), rows),), _SHOWN)
        )
    made.append(
        Fold(
            Line("stack", text(counted(len(fact.stack.frames), "frame"))), (stack_table(fact.stack),), _SHOWN
        )
    )
    return tuple(made)


def _lines_around(fact: Stop) -> Table:
    """The source with the stopped line marked."""
    stopped = int(str(fact.line).rpartition(":")[2])
    rows = tuple(
        (text(f"▸ {number}", "danger"), text(line.expandtabs(4), "native"))
        if number == stopped
        else (text(f"{number}", "dim"), text(line.expandtabs(4), "dim"))
        for number, line in fact.source
    )
    return Table(("", ""), rows, right_aligned=(0,))


_NO_PYTHON = "no thread runs Python now; C frames are read by pystack: pip install pystack"


@blocks.register
def _stacks(fact: Stacks) -> tuple[Block, ...]:
    says = f"{fact.program} ({fact.pid})  {counted(len(fact.threads), 'thread')}"
    head = Line("stacks", text(says), text(f"read in {fact.read_ns / 1e6:,.0f} ms", "dim"), link=_LINK)
    if not fact.threads:
        return (head, Line("", text(_NO_PYTHON, "dim")))
    return (head, *(block for stack in fact.threads for block in _stack(stack)))


def _thread(fact: Stack) -> Line:
    python = f"Python {fact.python}" if not isinstance(fact.python, Unknown) else str(fact.python)
    return Line("thread", (Span(f"{fact.thread_id} {fact.name}".rstrip()),), text(python, "dim"))


def stack_table(stack: Stack) -> Table:
    """The frames as rows; each run of plumbing is one row."""
    rows: list[Row] = []
    widest = max((len(frame.function) for frame in stack.frames if not frame.plumbing), default=0)
    for folded, run in groupby(stack.frames, key=lambda frame: frame.plumbing):
        frames = list(run)
        if folded:
            rows.append(
                (text("·", "dim"), text(f"{counted(len(frames), 'frame')} of plumbing", "dim"), text(""))
            )
        else:
            rows += [frame_row(frame, widest) for frame in frames]
    return Table(
        ("", "", ""), tuple(rows), caption="… deeper native frames were not read" if stack.cut else ""
    )


def frame_row(frame: Frame, widest: int = 0) -> Row:
    """A frame's language, function and place; `widest`: columns of the longest function beside it."""
    native = frame.kind == "native"
    style = "native" if native else "python"
    library = "" if isinstance(frame.library, Unknown) else frame.library
    where = library if isinstance(frame.line, Unknown) else short_line(frame.line)
    if max(widest, len(frame.function)) + len(where) > _ROOM:  # its number would be cut off
        where = where.rpartition("/")[2]
    label = {"native": "C", "python": "Py", "r": "R"}[frame.kind]
    return (text(label, style), text(frame.function, style), text(where, "dim"))


def short_line(line: str) -> str:
    """The line with its file and folder."""
    path, _, number = line.rpartition(":")
    return f"{'/'.join(PurePath(path).parts[-2:])}:{number}" if len(path) > 24 else line
