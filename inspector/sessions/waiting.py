"""What a process hangs on: its threads' waits with their sentences, and the stacks."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from inspector.errors import InspectorError
from inspector.facts.unknown import Unknown
from inspector.report import Report
from inspector.sessions import running
from inspector.verdicts.waiting import waiting

LOOK_S: Final = 5.0
"""A deadlock is told when nothing has happened for so long, and again looked for after as long."""


def awaited(child: Any, deadline_s: float, named: Callable[[str], str]) -> Any:
    """The next stop of a child under gdb, or its end; where neither comes a Report of its threads' waits.

    The report is made at a deadlock, else at the deadline or when the user interrupts: the child runs on.
    `named`: "file:line" as the user knows it.
    Raises InspectorError: gdb-refused, gdb-ended.
    """
    left = deadline_s
    try:
        while left > 0:
            try:
                return child.wait(min(LOOK_S, left))
            except InspectorError as error:
                if error.slug != "gdb-late":
                    raise
            left -= LOOK_S
            found = _of_child(child.pid, named)
            if any(row.slug == "deadlock" for row in found.answers.rows):
                return found
    except KeyboardInterrupt:
        pass
    return _of_child(child.pid, named)


def _of_child(pid: int, named: Callable[[str], str]) -> Report:
    """The waits of a process that our gdb traces, so that nobody else can stop it: its threads go on."""
    from inspector.debugger.attach.runtime import runtime
    from inspector.debugger.attach.sampling import unstopped
    from inspector.debugger.waiting.waits import waits

    found = unstopped(pid, lambda memory: waits(memory, runtime(memory)))
    rows = (row if isinstance(row.line, Unknown) else replace(row, line=named(row.line)) for row in found)
    found = replace(found, threads=tuple(rows), stood_still=False)
    return Report("waits", {"answers": waiting(found), "waits": found})


def hang(pid: int) -> dict[str, Any]:
    """The columns answers, waits and stacks of a process; only the stacks where it is no Python that we read.

    Raises InspectorError: ptrace-forbidden, already-traced, no-stacks, pystack-missing; TargetGone:
    no-process.
    """
    try:
        other = running.attach(pid)
    except InspectorError as error:
        if error.slug != "not-python":
            raise
        return {"stacks": running.stacks(pid)}
    waits = other.waits()
    return {"answers": waiting(waits), "waits": waits, "stacks": _stacks(other)}


def _stacks(other: Any) -> Any:
    try:
        return other.stacks()
    except InspectorError as error:
        return Unknown(error.what)
