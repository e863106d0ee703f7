"""Draws writes to an object's memory: how many, then each writing place with values and stack."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from typing import Final

from inspector.facts.amounts import counted
from inspector.facts.stack import Frame
from inspector.facts.write import Write, Writes
from inspector.views.amounts import size
from inspector.views.grammar import Block, Fold, Line, Span, text
from inspector.views.stack import stack_table
from inspector.views.view import blocks

_GROUPS: Final = 8
_WORD: Final = 8
_SHOWN: Final = 14
_LINK: Final = "docs/reference/debugging.md#writes"
_MEANING: Final = "Each instruction that wrote to these bytes, whether the value changed or not."


@blocks.register
def writes(fact: Writes) -> tuple[Block, ...]:
    """A line for the watch, then one stack for each writing place."""
    count = counted(fact.counted, "write")
    what = "" if fact.watched == "bytes" else f" to {fact.watched}"
    said = f"{count}{what}  {size(fact.watched_bytes)} at {fact.address:#x}"
    made: list[Block] = [Line("writes", text(said), text(fact.means, "dim"), _MEANING, _LINK)]
    groups = sorted(_groups(fact), key=len, reverse=True)
    made += [_group(group) for group in groups[:_GROUPS]]
    if len(groups) > _GROUPS:
        left = sum(map(len, groups[_GROUPS:]))
        made.append(
            Line("", text(f"… {left:,} writes more from {len(groups) - _GROUPS:,} stacks (--json)", "dim"))
        )
    return (*made, *_unseen(fact))


def _unseen(fact: Writes) -> Iterator[Line]:
    """Lines for writes that were not recorded or not seen."""
    if dropped := fact.counted - sum(write.stores for write in fact.writes):
        were = "write was" if dropped == 1 else "writes were"
        yield Line("dropped", text(f"{dropped:,} {were} counted and not recorded", "warn"))
    if fact.beside:
        yield Line(
            "beside", text(f"{fact.beside:,} writes to the same pages, outside the watched bytes", "dim")
        )
    if fact.ended:
        yield Line("warn", text("the budget ended the watch: later writes were not seen", "warn"))
    elif fact.silent is True:
        cause = "it changed without a recorded write: the kernel wrote to it, as in read(2)"
        if "page" in fact.means:
            cause += ", or another thread did while the page was unprotected for a single step"
        yield Line("warn", text(cause, "warn"))


def _groups(fact: Writes) -> Iterator[list[Write]]:
    found: dict[tuple[int, tuple[Frame, ...]], list[Write]] = {}
    for write in fact.writes:
        found.setdefault((write.offset, write.stack.frames), []).append(write)
    yield from found.values()


def _group(group: list[Write]) -> Fold:
    first, last = group[0], group[-1]
    at = f"  at +{first.offset:,}" if first.offset else ""
    if first.stores > 1 or first.written_bytes > _WORD:
        at += f"  {size(first.written_bytes)} in {counted(first.stores, 'store')}"
    if len(group) == 1:
        values, note = f"{first.before} → {first.after}", f"thread {first.stack.thread_id}"
    else:
        values, note = f"{first.before} → … → {last.after}", f"×{len(group):,}"
    head = Line(f"write {first.number}", (Span(values), Span(at, "dim")), text(note, "dim"))
    return Fold(head, (stack_table(first.stack),), _SHOWN)
