"""Draws a crash: the signal and the place, the last calls, the stacks."""

# SPDX-License-Identifier: MIT
from itertools import groupby
from operator import attrgetter
from typing import Final

from inspector.facts.amounts import counted
from inspector.facts.crash import Crash, LastCall
from inspector.facts.unknown import Unknown
from inspector.views.grammar import Block, Fold, Line, Span, Table, text
from inspector.views.stack import stack_table
from inspector.views.view import blocks

Row = tuple[tuple[Span, ...], ...]
_SHOWN: Final = 10
_LAST_SHOWN: Final = 2
"""The innermost call, mostly: with the stack the screen has 24 lines."""
_ALIKE: Final = attrgetter("thread_id", "function", "value")
_LINK: Final = "docs/reference/debugging.md#crashes"
_MEANING: Final = "Read from a core file and from the rings of the process's trace."


@blocks.register
def crash(fact: Crash) -> tuple[Block, ...]:
    """Signal and place first; then the last calls, the crashed thread's stack, the other threads."""
    made: list[Block] = [_died(fact)] if fact.sources else []  # else a live process was stopped and read
    made += _last(fact)
    if isinstance(fact.stacks, Unknown):
        return (*made, Line("stack", text(str(fact.stacks), "dim"))) if fact.sources else tuple(made)
    for stack in sorted(fact.stacks.threads, key=lambda stack: stack.thread_id != fact.thread_id):
        died = stack.thread_id == fact.thread_id
        head = Line(
            "died" if died else "thread", (Span(f"{stack.thread_id}"),), text(f"{stack.python}", "dim")
        )
        made.append(Fold(head, (stack_table(stack),), 40 if died else _SHOWN))
    return tuple(made)


def _died(fact: Crash) -> Line:
    program = "" if isinstance(fact.program, Unknown) else f"{fact.program} "
    signal = "ended" if isinstance(fact.signal, Unknown) else f"died of {fact.signal}"
    where = "" if isinstance(fact.place, Unknown) else f" in {fact.place}"
    fault = "" if isinstance(fact.fault, Unknown) else f"at address {fact.fault:#x}"
    said = f"{program}({fact.pid}) {signal}{where}"
    return Line("crash", text(said, "danger"), text(fault, "dim"), _MEANING, _LINK)


def _last(fact: Crash) -> list[Block]:
    if isinstance(fact.last, Unknown):
        return [Line("last", text(str(fact.last), "dim"))]
    said = f"{counted(len(fact.last), 'call')} before it" if fact.last else "no call had returned"
    of = f"of {fact.recorded:,} recorded" if fact.recorded > len(fact.last) else ""
    rows = [_row(list(run)) for _, run in groupby(reversed(fact.last), key=_ALIKE)]
    head, calls = Line("last", text(said), text(of, "dim")), Table(("", "", "", ""), tuple(rows))
    return [Fold(head, (calls,), _LAST_SHOWN)]


def _row(run: list[LastCall]) -> Row:
    first = run[0]
    times = f" ×{len(run):,}" if len(run) > 1 else ""
    return (
        text(f"-{first.before_ns / 1e6:.3f} ms", "dim"),
        text(first.function + times, "native"),
        text(first.value),
        text(first.direction or f"thread {first.thread_id}", "dim"),
    )
