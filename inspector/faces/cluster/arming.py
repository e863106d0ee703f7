"""Traces and leak checks armed in a worker process; all workers of the process share one."""

# SPDX-License-Identifier: MIT
import contextlib
import importlib
import os
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inspector.errors import InspectorError
from inspector.sessions.leaks import Leaked, leaks
from inspector.sessions.trace import Traced, trace


@dataclass
class Armed:
    """An entered trace or leak check; left once, by the first request or the last worker."""

    block: Traced | Leaked
    folder: Path | None
    """Where its records are kept, to be read if the process dies; None: in memory only."""
    workers: list[Any] = field(default_factory=list)
    running: bool = True
    reported: bool = False
    """Whether one worker has reported it, for all workers of the process."""


_armed: dict[str, Armed | InspectorError] = {}
_lock = threading.RLock()


def folder_of(question: str) -> Path:
    """The folder in which all processes of a host keep the records of a question."""
    return Path(tempfile.gettempdir()) / f"inspector-cluster-{question}"


def arm(worker: Any, question: str, verb: str, modules: tuple[str, ...]) -> Path | None:
    """Begin, unless another worker of this process did; the folder of its records, or None.

    An InspectorError is kept and raised when the question is asked.
    """
    with _lock:
        found = _armed.get(question)
        if found is None:
            found = _armed[question] = _begun(question, verb, modules)
        if isinstance(found, InspectorError):
            return None
        found.workers.append(worker)
        return found.folder


def ended(question: str) -> Armed | None:
    """Disarm, if it is still running; None where nothing is armed. Raises the error that prevented arming."""
    with _lock:
        found = _armed.get(question)
        if isinstance(found, InspectorError):
            raise found
        if found is not None and found.running:
            found.running = False
            found.block.__exit__(None, None, None)
        return found


def first_asked(question: str) -> Armed | None:
    """As `ended` for the first worker of the process; None for the others. Raises InspectorError."""
    with _lock:
        found = ended(question)
        if found is None:
            raise InspectorError(
                "nothing was armed here.",
                slug="trace-not-finished",
                why="this process joined after the block, or another trace replaced it",
                do="use it within `with inspector.on(client).trace(...)`",
            )
        reported, found.reported = found.reported, True
        return None if reported else found


def is_armed(question: str) -> bool:
    """Whether it is armed. Raises the InspectorError that prevented arming."""
    found = _armed.get(question)
    if isinstance(found, InspectorError):
        raise found
    return found is not None


def leave(worker: Any, question: str) -> None:
    """Release it for one worker; the last worker disarms it."""
    with _lock:
        found = _armed.get(question)
        if isinstance(found, Armed):
            found.workers[:] = [one for one in found.workers if one is not worker]
            if found.workers:
                return
            ended(question)
        _armed.pop(question, None)
        with contextlib.suppress(OSError):  # it does not exist, or has another process's records
            folder_of(question).rmdir()


def _begun(question: str, verb: str, modules: tuple[str, ...]) -> Armed | InspectorError:
    _imported(modules)
    try:
        folder = _made(folder_of(question)) if verb == "trace" else None
        block = trace(*modules, keep=folder) if verb == "trace" else leaks(*modules)
        if isinstance(block, Leaked):
            block.strict = False  # a worker that got no task imports nothing
        block.__enter__()
    except InspectorError as error:
        return error
    return Armed(block, folder)


def _made(folder: Path) -> Path | None:
    """The folder, made private (mode 0700); None where that fails: the trace stays in memory."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder if folder.stat().st_uid == os.getuid() else None
    except OSError:
        return None


def _imported(modules: tuple[str, ...]) -> None:
    """Import the modules to trace: a new worker has not imported them yet."""
    for name in modules:
        with contextlib.suppress(ImportError):
            importlib.import_module(name.partition(".")[0])
