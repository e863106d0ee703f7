"""The trace of a worker's process, split by tasks; another worker reads the trace of a dead one."""

# SPDX-License-Identifier: MIT
import base64
import contextlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from inspector.faces.cluster import arming
from inspector.facts.cluster import TaskCopy
from inspector.facts.wire import to_wire
from inspector.sessions.trace import Traced, left


class Ran(NamedTuple):
    """A task that ran; also a line of the tasks file, which is read when the worker died."""

    worker: str
    key: str
    prefix: str
    thread: int
    first_ns: int
    last_ns: int


def armed(worker: Any, question: str) -> bool:
    """Whether this process is traced. Raises the InspectorError that prevented it."""
    return arming.is_armed(question)


def copies(worker: Any, question: str, limit: int, events: int) -> dict[str, Any]:
    """End the trace; its copies by task, the largest first, and its last `events` records."""
    found = arming.first_asked(question)
    if found is None:
        return {"copies": [], "left_out": 0, "events": 0, "dropped": 0}
    assert isinstance(found.block, Traced)
    plugins = [one.plugins.get(f"inspector-{question}") for one in found.workers]
    ran = [Ran(*row) for plugin in plugins if plugin is not None for row in list(plugin.ran)]
    return _by_task(found.block, worker.address, ran, limit, events)


def remains(worker: Any, question: str, dead: list[str], limit: int, events: int) -> list[dict[str, Any]]:
    """The records of dead workers of this host; {} for one without files here."""
    return [_remains(arming.folder_of(question), one, limit, events) for one in dead]


def _remains(folder: Path, address: str, limit: int, events: int) -> dict[str, Any]:
    for path in folder.glob("tasks-*.jsonl"):
        ran = list(_lines(path))
        if any(row.worker == address for row in ran):
            pid = int(path.stem.rpartition("-")[2])
            answer = _by_task(left(folder, pid), address, [row for row in ran if row.key], limit, events)
            _delete(folder, pid)
            return answer
    return {}


def _lines(path: Path) -> Iterator[Ran]:
    """The rows of the file; the last line may be incomplete."""
    for line in path.read_text().splitlines():
        with contextlib.suppress(ValueError, TypeError):
            yield Ran(*json.loads(line))


def _delete(folder: Path, pid: int) -> None:
    """Delete the files of a process, unless it still runs."""
    if Path(f"/proc/{pid}").exists():
        return
    for path in folder.glob(f"*-{pid}*"):
        with contextlib.suppress(OSError):
            path.unlink()


def _by_task(trace: Traced, address: str, ran: Iterable[Ran], limit: int, events: int) -> dict[str, Any]:
    kinds: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    tasks: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    for one in ran:
        interval = (one.thread, one.first_ns, one.last_ns)
        kinds.setdefault((one.worker, one.prefix), []).append(interval)
        tasks.setdefault((one.worker, one.key), []).append(interval)
    names = {json.dumps(kind): intervals for kind, intervals in kinds.items()}
    rows = [
        TaskCopy(worker, prefix, copy)
        for name, found in trace.copies_during(names).items()
        for worker, prefix in [json.loads(name) if name else (address, "")]
        for copy in found
    ]
    rows.sort(key=lambda row: -row.copy.copied_bytes)
    answer = {
        "copies": [to_wire(row) for row in rows[:limit]],
        "left_out": max(len(rows) - limit, 0),
        "events": trace.events,
        "dropped": trace.dropped,
    }
    return answer | (_streamed(trace, tasks, events) if events else {})


def _streamed(trace: Traced, tasks: dict[tuple[str, str], Any], events: int) -> dict[str, Any]:
    stream, left_out = trace.stream({json.dumps(task): some for task, some in tasks.items()}, events)
    return {"stream": base64.b64encode(stream).decode(), "records_left_out": left_out}
