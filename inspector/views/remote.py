"""An object of another process, and where that process spends its time."""

from __future__ import annotations

from collections import Counter
from typing import Final

from inspector.facts.remote import Entry, Remote, Sampled, Samples
from inspector.facts.stack import Frame, Stack
from inspector.facts.unknown import Address, ImmortalType, Unknown
from inspector.views.grammar import Block, Fold, Line, Table, text
from inspector.views.view import blocks

_SHOWN: Final = 12
_STACKS: Final = 3
_NAMED: Final = 3
_LINK: Final = "docs/reference/debugging.md#another-process"
_MEANING: Final = "Read from the memory of another process; nothing was run in it."
_WHOSE: Final = "A name alone is a global of __main__ first; module.name asks for another module's."


@blocks.register
def _remote(fact: Remote) -> tuple[Block, ...]:
    made: list[Block] = [
        Line(fact.expression, text(str(fact.value)), text(_stood(fact.stopped_ns), "dim"), heading=True),
        Line(
            "in",
            text(f"{fact.program} ({fact.pid})"),
            text(f"Python {fact.python}", "dim"),
            _MEANING,
            _LINK,
        ),
        *_global(fact),
        Line("refs", text(_count(fact.references)), text("never freed (PEP 683)", "dim"))
        if isinstance(fact.references, ImmortalType)
        else Line("refs", text(_count(fact.references))),
        Line("address", text(f"{fact.address:#x}", "dim"), verbose=True),
    ]
    made += [Line(name, text(said)) for name, said in fact.details]
    if fact.entries:
        rows = tuple((text(one.key, "python"), text(str(one.value))) for one in fact.entries)
        count = len(fact.entries) + fact.more
        caption = f"{fact.more:,} more were not read" if fact.more else ""
        said = f"{count:,} item{'' if count == 1 else 's'}"
        made.append(Fold(Line("holds", text(said)), (Table(("", ""), rows, (), caption),), _SHOWN))
    return tuple(made)


def _global(fact: Remote) -> tuple[Line, ...]:
    """Whose global it is; where modules have another object of the name, which."""
    if not fact.global_name:
        return ()
    said = f"{fact.global_name} of {_some(fact.modules)}"
    other = f"another object of that name in {_some(fact.namesakes)}" if fact.namesakes else ""
    return (Line("global", text(said), text(other, "hint"), _WHOSE, _LINK),)


def _some(modules: tuple[str, ...]) -> str:
    more = f" and {len(modules) - _NAMED} more" if len(modules) > _NAMED else ""
    return ", ".join(modules[:_NAMED]) + more


def _stood(stopped_ns: int | Unknown) -> str:
    return "" if isinstance(stopped_ns, Unknown) else f"stood still {stopped_ns / 1e6:,.0f} ms"


def _count(references: int | ImmortalType) -> str:
    return "∞" if isinstance(references, ImmortalType) else f"{references:,}"


@blocks.register
def _samples(fact: Samples) -> tuple[Block, ...]:
    said = f"{fact.program} ({fact.pid})  {fact.rounds:,} looks in {fact.seconds:g} s"
    unread = f"{fact.unread:,} changed while they were read" if fact.unread else "not stopped once"
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
    made += [_stack(one, fact) for one in fact.stacks[:_STACKS]]
    if len(fact.stacks) > _STACKS:
        made.append(Line("", text(f"… {len(fact.stacks) - _STACKS:,} stacks more (--json)", "dim")))
    return tuple(made)


def _inner(fact: Samples) -> list[tuple[float, Frame]]:
    """(share of a thread's looks, innermost frame), the most frequent first."""
    counts: Counter[Frame] = Counter()
    for one in fact.stacks:
        counts[one.stack.frames[0]] += one.samples
    return [(count / max(fact.rounds, 1), frame) for frame, count in counts.most_common()]


def _stack(one: Sampled, fact: Samples) -> Fold:
    rows = tuple((text(frame.function, "python"), text(_line(frame), "dim")) for frame in one.stack.frames)
    thread = f"thread {one.stack.thread_id} {one.stack.name}".rstrip()
    head = Line("stack", text(thread), text(f"{one.samples / max(fact.rounds, 1):.0%}", "dim"))
    return Fold(head, (Table(("", ""), rows),), _SHOWN)


def _line(frame: Frame) -> str:
    said = str(frame.line)
    return said if len(said) <= 40 else "…" + said[-39:]


def _sample() -> tuple[Block, ...]:
    entries = (Entry("['k']", "list (3 items)"), Entry("['n']", "int 7"))
    remote = Remote(
        4711,
        "python3",
        "3.12",
        "cache",
        Address(0x7F0010),
        2,
        "dict (9 items)",
        (),
        entries,
        7,
        3_100_000,
        "cache",
        ("__main__", "app"),
        ("shop",),
    )
    frames = (
        Frame("python", "Table.rows", "app.py", "app.py:12", False),
        Frame("python", "main", "app.py", "app.py:40", False),
    )
    stack = Stack(4711, "python3", frames, "3.12", False)
    return *blocks(remote), *blocks(Samples(4711, "python3", 2.0, 190, 3, (Sampled(150, stack),)))


if __name__ == "__main__":
    from inspector.views.sample import draw

    draw(_sample())
