"""A trace on one worker: armed there, and read there by tasks, so that only facts travel."""

from __future__ import annotations

import time
from typing import Any, Final

from inspector.errors import InspectorError
from inspector.facts.cluster import TaskCopy
from inspector.facts.wire import to_wire
from inspector.traced import Traced, trace

PLACE: Final = "inspector_trace"
"""Attribute of the worker that holds its running trace, or why there is none."""


def arm(worker: Any, modules: tuple[str, ...]) -> None:
    """Trace `modules` from now on; what forbids it is told when the copies are asked for."""
    try:
        running = trace(*modules)
        running.__enter__()
    except InspectorError as error:
        setattr(worker, PLACE, error)
    else:
        setattr(worker, PLACE, running)


def disarm(worker: Any) -> Traced | None:
    """End the trace, if one runs; InspectorError where it could not begin."""
    running: Traced | InspectorError | None = vars(worker).pop(PLACE, None)
    if isinstance(running, InspectorError):
        raise running
    if running is not None:
        running.__exit__(None, None, None)
    return running


def copies(worker: Any, limit: int) -> dict[str, Any]:
    """End the trace; its copies by task, the largest first."""
    running = disarm(worker)
    if running is None:
        return {"copies": [], "left_out": 0, "events": 0, "dropped": 0}
    rows = [
        TaskCopy(worker.address, task, copy)
        for task, found in running.copies_during(_tasks(worker)).items()
        for copy in found
    ]
    rows.sort(key=lambda row: -row.copy.copied_bytes)
    return {
        "copies": [to_wire(row) for row in rows[:limit]],
        "left_out": max(len(rows) - limit, 0),
        "events": running.events,
        "dropped": running.dropped,
    }


def _tasks(worker: Any) -> dict[str, list[tuple[int, int, int]]]:
    """Key prefix -> (thread, first, last monotonic ns) of the tasks that this worker ran."""
    from dask.utils import key_split

    to_monotonic = time.monotonic() - time.time()
    found: dict[str, list[tuple[int, int, int]]] = {}
    for key, thread, step, delay in list(worker.plugins["inspector-trace"].ran):
        if step["action"] == "compute":
            first, last = (round((step[end] - delay + to_monotonic) * 1e9) for end in ("start", "stop"))
            found.setdefault(key_split(key), []).append((thread, first, last))
    return found
