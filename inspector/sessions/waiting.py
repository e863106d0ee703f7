"""What a process hangs on: its threads' waits with their sentences, and the stacks."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import Any

from inspector.errors import InspectorError
from inspector.facts.unknown import Unknown
from inspector.sessions import running
from inspector.verdicts.waiting import waiting


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
