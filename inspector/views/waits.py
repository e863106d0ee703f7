"""Draws what threads wait for, and beside it the user's own frames of those that keep others waiting."""

# SPDX-License-Identifier: MIT
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from inspector.facts.amounts import counted
from inspector.facts.stack import Frame, Stack, Stacks
from inspector.facts.unknown import Unknown
from inspector.facts.waits import Task, Tasks, Wait, Waits
from inspector.views.grammar import Block, Fold, Line, Span, Table, text
from inspector.views.stack import frame_row
from inspector.views.view import blocks

ROWS: Final = 8
_LINK: Final = "docs/how-to/debug_a_running_service.md"
_MEANING: Final = "Read from the process's memory and from /proc."
_OTHERS: Final = re.compile(
    r"^(libc|libpython|libffi|libpthread|ld-linux|libstdc\+\+|libgcc_s|python3?(\.\d+)?$)"
)
"""Libraries below the user's C code."""
_STANDARD: Final = re.compile(r"^<frozen |/python3\.\d+t?/(?!(site|dist)-packages)")
_STACKS, _FRAMES = 3, 4


@blocks.register
def waits(fact: Waits) -> tuple[Block, ...]:
    """One row a thread: what it waits for, who holds it, where."""
    gil = fact.gil_holder
    holder = "" if isinstance(gil, Unknown) or not gil else f" · {_called(fact, gil)} holds the GIL"
    says = f"{fact.program} ({fact.pid})  {counted(len(fact.threads), 'thread')}{holder}"
    took = text(f"{'stood still' if fact.stood_still else 'read in'} {fact.read_ns / 1e6:,.0f} ms", "dim")
    rows = tuple(_row(fact, row) for row in sorted(fact.threads, key=_rank))
    table = Table(("thread", "waits for", "held by", "at"), rows)
    return (Fold(Line("threads", text(says), took, _MEANING, _LINK), (table,), ROWS), *_tasks(fact.tasks))


def _tasks(found: Tasks | Unknown) -> Iterator[Block]:
    """One row a task of an event loop: what it runs, what it awaits, where."""
    if isinstance(found, Unknown):
        yield Line("tasks", text(f"? {found.reason}", "dim"))
    elif found.rows:
        rows = tuple(map(_task, found.groups()))
        table = Table(("task", "runs", "waits for", "at"), rows)
        yield Fold(Line("tasks", text(counted(len(found), "task"))), (table,), ROWS)


def _task(rows: Sequence[Task]) -> tuple[tuple[Span, ...], ...]:
    row, many = rows[0], f" ×{len(rows):,}" if len(rows) > 1 else ""
    where = "" if isinstance(row.line, Unknown) else row.line.rpartition("/")[2]
    what = row.what.replace("`", "") or "nothing: it runs"
    return text(f"{row.name}{many}", "code"), text(f"{row.coroutine}()"), text(what), text(where, "dim")


def hanging(facts: Mapping[str, Any], everything: bool) -> Iterator[Block]:
    """The table, then the stacks: all of them with `everything`, else the user's frames of a few."""
    found, stacks = facts["waits"], facts.get("stacks")
    yield from waits(found)
    if not isinstance(stacks, Stacks):
        return
    if everything:
        yield from blocks(stacks)
        return
    order = [row.thread_id for row in sorted(found.threads, key=_rank)]
    known = sorted(
        (one for one in stacks.threads if one.thread_id in order), key=lambda one: order.index(one.thread_id)
    )
    names = {row.thread_id: row.name for row in found.threads}
    for stack in known[:_STACKS]:
        yield from _short(stack, names[stack.thread_id])
    yield Line(
        "more", text(f"whole stacks of {counted(len(stacks.threads), 'thread')}", "dim"), text("--all", "dim")
    )


def _short(stack: Stack, name: str) -> Iterator[Block]:
    rows = tuple(frame_row(frame) for frame in stack.frames if _is_own(frame))
    if rows:
        yield Fold(
            Line("stack", (Span(name or str(stack.thread_id), "code"),)),
            (Table(("", "", ""), rows[:_FRAMES]),),
            _FRAMES,
        )


def _is_own(frame: Frame) -> bool:
    if frame.plumbing:
        return False
    if frame.kind == "python":
        return not isinstance(frame.library, Unknown) and not _STANDARD.search(frame.library)
    return not isinstance(frame.library, Unknown) and not _OTHERS.search(frame.library)


def _rank(row: Wait) -> tuple[bool, bool]:
    """Threads that wait for others first, then those that run."""
    waits_for_others = row.kind in ("gil", "mutex", "lock", "rlock", "futex")
    return (not waits_for_others, row.kind == "thread")


def _row(fact: Waits, row: Wait) -> tuple[tuple[Span, ...], ...]:
    held = (
        "?" if isinstance(row.holders, Unknown) else ", ".join(_called(fact, one) for one in row.holders[:3])
    )
    where = "" if isinstance(row.line, Unknown) else row.line.rpartition("/")[2]
    what = row.what or "nothing: it runs"
    name = text(row.name or str(row.thread_id), "code")
    return (name, text(what.replace("`", "")), text("" if row.kind == "notice" else held), text(where, "dim"))


def _called(fact: Waits, thread: int) -> str:
    return next((row.name for row in fact.threads if row.thread_id == thread and row.name), str(thread))
