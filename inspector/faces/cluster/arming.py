"""What is armed in this process for a cluster: a trace or a ledger, one for all the workers in it."""

from __future__ import annotations

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
    """A block that was entered; it is left once, by whoever asks first or goes last."""

    block: Traced | Leaked
    folder: Path | None
    """Where its records lie while it runs, for who reads them if the process dies; None: nowhere."""
    workers: list[Any] = field(default_factory=list)
    running: bool = True
    told: bool = False
    """Whether one of the workers told of it, for all."""


_armed: dict[str, Armed | InspectorError] = {}
_lock = threading.RLock()


def folder_of(question: str) -> Path:
    """Where every process of a host keeps what it records for a question."""
    return Path(tempfile.gettempdir()) / f"inspector-cluster-{question}"


def arm(worker: Any, question: str, verb: str, modules: tuple[str, ...]) -> Path | None:
    """Begin, unless another worker of this process did; the folder in which it is kept.

    What forbids it is told when the question is asked.
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
    """It is over: disarmed by now; None where nothing is armed. Raises what forbade it."""
    with _lock:
        found = _armed.get(question)
        if isinstance(found, InspectorError):
            raise found
        if found is not None and found.running:
            found.running = False
            found.block.__exit__(None, None, None)
        return found


def first_asked(question: str) -> Armed | None:
    """As `ended`, for the first worker of the process that is asked; None for the others."""
    with _lock:
        found = ended(question)
        if found is None:
            raise InspectorError(
                "nothing was armed here.",
                slug="trace-not-finished",
                why="this process joined when the block was over, or another trace took its place",
                do="ask within `with inspector.on(client).trace(...)`",
            )
        told, found.told = found.told, True
        return None if told else found


def is_armed(question: str) -> bool:
    """Whether it runs. Raises InspectorError: what forbade it."""
    found = _armed.get(question)
    if isinstance(found, InspectorError):
        raise found
    return found is not None


def leave(worker: Any, question: str) -> None:
    """The worker is done with it; the last one disarms it and lets it go."""
    with _lock:
        found = _armed.get(question)
        if isinstance(found, Armed):
            found.workers[:] = [one for one in found.workers if one is not worker]
            if found.workers:
                return
            ended(question)
        _armed.pop(question, None)
        with contextlib.suppress(OSError):  # nothing was kept; or another process's records lie there
            folder_of(question).rmdir()


def _begun(question: str, verb: str, modules: tuple[str, ...]) -> Armed | InspectorError:
    _imported(modules)
    try:
        folder = _made(folder_of(question)) if verb == "trace" else None
        block = trace(*modules, keep=folder) if verb == "trace" else leaks(*modules)
        block.__enter__()
    except InspectorError as error:
        return error
    return Armed(block, folder)


def _made(folder: Path) -> Path | None:
    """A folder of our own that nobody else can write to; None: the trace is in memory only."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder if folder.stat().st_uid == os.getuid() else None
    except OSError:
        return None


def _imported(modules: tuple[str, ...]) -> None:
    """Import what is to be traced: a worker that has run nothing yet knows none of it."""
    for name in modules:
        with contextlib.suppress(ImportError):
            importlib.import_module(name.partition(".")[0])
