"""The last calls of a process that died, from a trace that it kept in a folder.

`trace(keep=FOLDER)` writes a trace into a folder while it runs (inspector/tracing/record/folder.py), so
records survive any end of the process, also SIGKILL. A trace that ends normally removes its files.
"""

# SPDX-License-Identifier: MIT
import contextlib
import os
import re
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from inspector.errors import InspectorError
from inspector.facts.crash import LastCall
from inspector.tracing.events import capi_rows
from inspector.tracing.events.decode import CALL_KINDS, KINDS, Events
from inspector.tracing.record.folder import read
from inspector.tracing.record.into_folder import Leaving
from inspector.tracing.record.recorder import Grade, Recorder

LAST: Final = 100
_RING: Final = re.compile(r"ring-(\d+)-\d+\.events$")


class Remains(NamedTuple):
    """What one process left."""

    pid: int
    last: tuple[LastCall, ...]
    """The last calls of all threads, oldest first."""
    recorded: int
    sources: tuple[str, ...]


def keeping(
    folder: str | Path, modules: tuple[str, ...], grade: Grade, cells: Mapping[str, int], copies: bool
) -> Recorder:
    """A recorder that writes all into a folder, which it creates. Raises InspectorError unwritable-file."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(13, "Permission denied")
    except OSError as error:
        raise InspectorError(
            f"cannot keep a trace in {folder}: {error.strerror}.",
            slug="unwritable-file",
            do="give another folder",
        ) from None
    recorder = Leaving(Path(folder).resolve(), modules, grade).recorder
    recorder.cells, recorder.allocations, recorder.each = cells, copies, True
    return recorder


def take_away(folder: str) -> None:
    """Remove this process's files, after a trace that ended normally."""
    pid = os.getpid()
    for pattern in (f"ring-{pid}-*.events", f"tables-{pid}.jsonl", f"names-{pid}.journal"):
        for file in Path(folder).glob(pattern):
            with contextlib.suppress(OSError):
                file.unlink()


def remains(folder: str | Path) -> Remains:
    """The last calls of the process that last wrote to a folder. Raises InspectorError no-remains."""
    files = sorted(Path(folder).glob("ring-*.events"), key=lambda file: file.stat().st_mtime)
    named = _RING.search(files[-1].name) if files else None
    if named is None:
        raise _nothing(folder, "the folder has no ring files: the trace ended by itself, or kept elsewhere")
    pid = int(named[1])
    own = tuple(str(file) for file in files if file.name.startswith(f"ring-{pid}-"))
    try:
        events = read(Path(folder), pid, "record")
    except (OSError, ValueError, struct.error) as error:
        raise _nothing(folder, f"{files[-1].name} is damaged: {error}") from None
    calls = sorted(_calls(events))
    end = calls[-1][0] if calls else 0.0
    last = tuple(
        LastCall(thread, function, direction, value, int(end - at_ns))
        for at_ns, thread, function, direction, value in calls[-LAST:]
    )
    return Remains(pid, last, len(calls), own)


def _nothing(folder: str | Path, why: str) -> InspectorError:
    return InspectorError(
        f"no trace was kept in {folder}.",
        slug="no-remains",
        why=why,
        do="inspector.trace(keep=FOLDER), or inspector trace --keep FOLDER app.py",
    )


def _calls(events: Events) -> Iterator[tuple[float, int, str, str, str]]:
    """(ns, thread, function, direction, value) of the calls that had returned."""
    capi, wanted = KINDS["CAPI"], {*CALL_KINDS, KINDS["CAPI"]}
    first = ~events.flagged("CONTINUATION")
    for record, thread in zip(events.records[first], events.thread[first], strict=True):
        kind, row = int(record["kind"]), int(record["func"])
        if kind not in wanted:
            continue
        at_ns, ident = int(record["start"]) * events.tick_ps / 1000, events.threads[int(thread)]
        if kind == capi:
            value = capi_rows.value_text(row, int(record["val"]))
            yield at_ns, ident, capi_rows.name(row), capi_rows.direction(row), value
        else:
            slot = int(record["slot"])
            yield at_ns, ident, events.names.get(slot, f"function {slot}"), "", ""
