"""Sentences on threads that wait: a deadlock, who keeps whom waiting, what the others wait for."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from inspector.facts.amounts import counted
from inspector.facts.answers import Answer, Answers
from inspector.facts.unknown import Unknown
from inspector.facts.waits import Task, Tasks, Wait, Waits
from inspector.verdicts.answers.words import answer, code, few, listed

EVIDENCE = "waits.threads"
MOST_TOLD = 3
"""Groups of tasks in the sentence."""
OWNED = ("gil", "mutex", "lock", "rlock", "thread")
"""Waits that end only when each of the holders goes on."""


def waiting(found: Waits) -> Answers:
    """The answers about the threads of a process, the most important first."""
    rings = list(_rings(found))
    inside = {thread for ring in rings for thread in ring}
    told = [_deadlock(found, ring) for ring in rings]
    told += list(_kept(found, inside))
    told += list(_unknown(found))
    return Answers((*told, *_tasks(found.tasks), *_free(found, bool(told))))


def needs(row: Wait) -> tuple[int, ...]:
    """The threads that must go on before this one can."""
    known = row.kind in OWNED and not isinstance(row.holders, Unknown)
    return tuple(row.holders) if known and not isinstance(row.holders, Unknown) else ()


def _rings(found: Waits) -> Iterator[tuple[int, ...]]:
    """Threads that wait for each other in a circle; each circle once, from its lowest thread id."""
    after = {row.thread_id: needs(row) for row in found}
    seen = set[int]()
    for start in sorted(after):
        path = _circle(start, after)
        if path and not seen.intersection(path):
            seen.update(path)
            yield path


def _circle(start: int, after: dict[int, tuple[int, ...]]) -> tuple[int, ...]:
    """The shortest way from a thread back to itself; () without one."""
    ways: list[tuple[int, ...]] = [(start,)]
    reached = set[int]()
    while ways:
        way = ways.pop(0)
        for one in after.get(way[-1], ()):
            if one == start:
                return way
            if one not in reached:
                reached.add(one)
                ways.append((*way, one))
    return ()


def _deadlock(found: Waits, ring: tuple[int, ...]) -> Answer:
    rows = [_row(found, thread) for thread in ring]
    timed = any(row.timed for row in rows)
    if len(rows) == 1:
        text = f"Deadlock: {_who(rows[0])} waits for {rows[0].what}, which it holds itself{_at(rows[0])}."
        do = "threading.RLock() lets one thread take it again" if rows[0].kind == "lock" else ""
    else:
        held = [
            f"{_who(rows[i])} holds {rows[i - 1].what}, waits for {rows[i].what}{_at(rows[i])}"
            for i in _order(rows)
        ]
        text = f"Deadlock: {'; '.join(held)}."
        do = _remedy(rows)
    text += " A wait has a deadline, which ends it." if timed else ""
    text += f" {do}." if do else ""
    about = tuple(row.name for row in rows)
    return answer("deadlock", text, EVIDENCE, certain=not timed, about=about, do=do)


def _in_ring(rows: list[Wait], i: int) -> str:
    """What one thread of a circle holds and waits for; the one before it waits for what it holds."""
    before, row = rows[i - 1], rows[i]
    holds = "" if before.kind == "thread" else f"holds {before.what}, "
    return f"{_who(row)} {holds}waits for {row.what}{_at(row)}"


def _order(rows: list[Wait]) -> list[int]:
    """From the thread that holds the GIL, if one does: it could let it go."""
    first = next((i for i in range(len(rows)) if rows[i - 1].kind == "gil"), 0)
    return [(first + i) % len(rows) for i in range(len(rows))]


def _remedy(rows: list[Wait]) -> str:
    kinds = {row.kind for row in rows}
    if "gil" in kinds and "mutex" in kinds:
        at = _at(rows[_order(rows)[0]], " at ", "")
        return f"Release the GIL around the call{at}: Py_BEGIN_ALLOW_THREADS, py::gil_scoped_release"
    return "Take them in the same order in every thread" if kinds <= {"lock", "rlock", "mutex"} else ""


def _kept(found: Waits, inside: set[int]) -> Iterator[Answer]:
    """Threads that keep others waiting, the one that keeps most first."""
    waiting = [row for row in found if needs(row) and row.thread_id not in inside]
    groups: Counter[tuple[str, tuple[int, ...]]] = Counter()
    for row in waiting:
        if row.kind != "thread" or not set(needs(row)) <= inside:
            groups[row.what, needs(row)] += 1
    for (what, holders), count in groups.most_common(4):
        rows = [row for row in waiting if (row.what, needs(row)) == (what, holders)]
        who = (
            f"{_who(rows[0])}{_at(rows[0])} waits"
            if count == 1
            else f"{few(count).capitalize()} threads wait"
        )
        yield answer(
            "kept-waiting",
            f"{who} for {what}{_because(found, rows[0], holders)}.",
            EVIDENCE,
            about=(rows[0].name,),
        )


def _because(found: Waits, row: Wait, holders: tuple[int, ...]) -> str:
    """What the holder does meanwhile."""
    known = [one for one in found if one.thread_id in holders]
    if not known or row.kind == "thread":
        does = [f"{_who(one)} {_does(one)}" for one in known[:1]]
        return f"; {does[0]}" if does and len(known) == 1 else ""
    return f", held by {_who(known[0])}, which {_does(known[0])}"


def _does(row: Wait) -> str:
    return f"runs{_at(row)}" if row.kind == "runs" else f"waits for {row.what}{_at(row)}"


def _unknown(found: Waits) -> Iterator[Answer]:
    """Waits whose holder is not known, with the reason."""
    for row in found:
        if row.kind in ("gil", "lock", "mutex", "rlock", "futex") and isinstance(row.holders, Unknown):
            why = row.holders.reason
            text = f"{_who(row)}{_at(row)} waits for {row.what}; who holds it is not known: {why}."
            yield answer("holder-unknown", text, EVIDENCE, certain=False, about=(row.name,))


def _free(found: Waits, told: bool) -> Iterator[Answer]:
    """Without such waits: what the main thread does, and how many others do what."""
    if told or not found.threads:
        return
    main, *others = found.threads
    does = Counter("" if row.kind == "runs" else row.what.partition(" (")[0] for row in others)
    rest = listed([_these(count, what) for what, count in does.most_common()], most=3) if does else ""
    more = f" Of the others {rest}." if rest else ""
    yield answer("waits-alone", f"{_who(main)} {_does(main)}.{more}", EVIDENCE, about=(main.name,))


def _these(count: int, what: str) -> str:
    """ "two wait for the end of a sleep", "one runs"."""
    ending = "s" if count == 1 else ""
    return f"{few(count)} wait{ending} for {what}" if what else f"{few(count)} run{ending}"


def _tasks(found: Tasks | Unknown) -> Iterator[Answer]:
    """What the tasks of an event loop await, those that only await other tasks last."""
    if isinstance(found, Unknown):
        return
    waiting = [rows for rows in found.groups() if rows[0].what]
    groups = sorted(waiting, key=lambda rows: (rows[0].for_tasks, -len(rows)))
    if not groups:
        return
    said = listed(map(_awaits, groups[:MOST_TOLD]))
    left = sum(map(len, groups[MOST_TOLD:])) + found.left_out
    more = f"; {counted(left, 'more task')}" if left else ""
    about = tuple(rows[0].name for rows in groups[:MOST_TOLD])
    yield answer("tasks-wait", f"{said[0].upper()}{said[1:]}{more}.", "waits.tasks", about=about)


def _awaits(rows: Sequence[Task]) -> str:
    """Tasks that await the same in one line."""
    first = rows[0]
    path, _, number = ("" if isinstance(first.line, Unknown) else first.line).rpartition(":")
    place = f", {PurePath(path).name}:{number}" if path else ""
    where = f"{first.function.rpartition('.')[2]}(){place}"
    who = f"{few(len(rows))} tasks wait" if len(rows) > 1 else f"{code(first.name)} waits"
    return f"{who} for {first.what} ({where})"


def _row(found: Waits, thread: int) -> Wait:
    return next(row for row in found if row.thread_id == thread)


def _who(row: Wait) -> str:
    return code(row.name) if row.name else f"thread {row.thread_id}"


def _at(row: Wait, before: str = " (", after: str = ")") -> str:
    """The file's name and line, in brackets."""
    if isinstance(row.line, Unknown):
        return ""
    path, _, number = row.line.rpartition(":")
    return f"{before}{PurePath(path).name}:{number}{after}"
