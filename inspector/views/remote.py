"""Draws an object of another process, and the sampled stacks of that process."""

# SPDX-License-Identifier: MIT
from collections import Counter
from typing import Final

from inspector.facts.amounts import counted
from inspector.facts.remote import Remote, Sampled, Samples
from inspector.facts.stack import Frame
from inspector.facts.unknown import ImmortalType, Unknown
from inspector.views.grammar import Block, Fold, Line, Table, text
from inspector.views.view import blocks

_SHOWN: Final = 12
_STACKS: Final = 3
_NAMED: Final = 3
_LINK: Final = "docs/reference/debugging.md#another-process"
_MEANING: Final = "Read from the memory of another process; no code was run in it."
_WHOSE: Final = "A bare name is looked up in __main__ first; module.name reads another module's global."


@blocks.register
def _remote(fact: Remote) -> tuple[Block, ...]:
    stopped = "" if isinstance(fact.stopped_ns, Unknown) else f"stopped for {fact.stopped_ns / 1e6:,.0f} ms"
    program, python = text(f"{fact.program} ({fact.pid})"), text(f"Python {fact.python}", "dim")
    made: list[Block] = [
        Line(fact.expression, text(str(fact.value)), text(stopped, "dim"), heading=True),
        Line("in", program, python, _MEANING, _LINK),
        *_global(fact),
        Line("refs", text("∞"), text("never freed (PEP 683)", "dim"))
        if isinstance(fact.references, ImmortalType)
        else Line("refs", text(f"{fact.references:,}")),
        Line("address", text(f"{fact.address:#x}", "dim"), verbose=True),
    ]
    made += [Line(name, text(said)) for name, said in fact.details]
    if fact.entries:
        rows = tuple((text(entry.key, "python"), text(str(entry.value))) for entry in fact.entries)
        count = len(fact.entries) + fact.more
        caption = f"{fact.more:,} more were not read" if fact.more else ""
        said = counted(count, "item")
        made.append(Fold(Line("holds", text(said)), (Table(("", ""), rows, (), caption),), _SHOWN))
    return tuple(made)


def _global(fact: Remote) -> tuple[Line, ...]:
    """The modules that have this global, and modules with another object of the same name."""
    if not fact.global_name:
        return ()
    said = f"{fact.global_name} of {_few(fact.modules)}"
    other = f"another object of that name in {_few(fact.namesakes)}" if fact.namesakes else ""
    return (Line("global", text(said), text(other, "hint"), _WHOSE, _LINK),)


def _few(modules: tuple[str, ...]) -> str:
    more = f" and {len(modules) - _NAMED} more" if len(modules) > _NAMED else ""
    return ", ".join(modules[:_NAMED]) + more


@blocks.register
def _samples(fact: Samples) -> tuple[Block, ...]:
    said = f"{fact.program} ({fact.pid})  {fact.rounds:,} samples in {fact.seconds:g} s"
    unread = f"{fact.unread:,} changed while they were read" if fact.unread else "never stopped"
    made: list[Block] = [Line("trace", text(said), text(unread, "dim"), _MEANING, _LINK)]
    if fact.instead:
        made.append(Line("from outside", text(fact.instead, "hint")))
    if not fact.stacks:
        return (*made, Line("", text("no thread ran Python code", "dim")))
    rows = tuple(
        (text(f"{share:.0%}"), text(frame.function, "python"), text(_line(frame), "dim"))
        for share, frame in _inner(fact)
    )
    made.append(
        Fold(Line("where", text("innermost Python frame")), (Table(("", "", ""), rows, (0,)),), _SHOWN)
    )
    made += [_stack(sampled, fact) for sampled in fact.stacks[:_STACKS]]
    if len(fact.stacks) > _STACKS:
        made.append(Line("", text(f"… {len(fact.stacks) - _STACKS:,} stacks more (--json)", "dim")))
    return tuple(made)


def _inner(fact: Samples) -> list[tuple[float, Frame]]:
    """(share of the samples, innermost frame), the most frequent first."""
    counts: Counter[Frame] = Counter()
    for sampled in fact.stacks:
        counts[sampled.stack.frames[0]] += sampled.samples
    return [(count / max(fact.rounds, 1), frame) for frame, count in counts.most_common()]


def _stack(sampled: Sampled, fact: Samples) -> Fold:
    stack = sampled.stack
    rows = tuple((text(frame.function, "python"), text(_line(frame), "dim")) for frame in stack.frames)
    thread = f"thread {stack.thread_id} {stack.name}".rstrip()
    head = Line("stack", text(thread), text(f"{sampled.samples / max(fact.rounds, 1):.0%}", "dim"))
    return Fold(head, (Table(("", ""), rows),), _SHOWN)


def _line(frame: Frame) -> str:
    said = str(frame.line)
    return said if len(said) <= 40 else "…" + said[-39:]
