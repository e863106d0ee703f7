"""Code that is sent to the workers by value (cloudpickle), so that workers without inspector can load it.

It therefore imports inspector's modules only inside functions.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import weakref
from collections import deque
from typing import Any

from distributed import SchedulerPlugin, WorkerPlugin

FOLLOWED = 1000
"""Finished keys that are followed; further ones are only counted."""

RAN = 100_000
"""How many of the last tasks' times are kept for a trace."""

LARGE_BYTES = 1 << 16
"""Bytes of the smallest value without weak references that is counted as unfollowed."""


async def ask(verb: str, options: dict[str, Any], dask_worker: Any) -> dict[str, Any]:
    """The worker's answer to `verb`, as JSON text under "answer"; else the reason under "absent" or "failed".

    Runs in a thread, so that the worker's event loop continues.
    """
    import asyncio

    try:
        from inspector.errors import InspectorError
        from inspector.faces.cluster.worker import answer
    except ImportError as error:
        return {"absent": str(error)}
    try:
        return {"answer": await asyncio.to_thread(answer, verb, options, dask_worker)}
    except InspectorError as error:
        return {"failed": str(error)}
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"[:200]}


class Follower(WorkerPlugin):  # type: ignore[misc]
    """Keeps a weak reference to each key's value, to find values that outlive their keys."""

    name = "inspector"

    def setup(self, worker: Any) -> None:
        """Follow present and future keys; keeps what an earlier plugin followed."""
        self.worker = worker
        self.live, self.finished, self.unfollowed = vars(worker).setdefault(
            "inspector_followed", ({}, {}, [])
        )
        for key in list(worker.data):
            self.born(key)

    def transition(self, key: Any, start: str, finish: str, **_: Any) -> None:
        """Called by the worker at each change of a task's state."""
        if finish == "memory":
            self.born(key)
        elif start == "memory":
            self.end(key)

    def born(self, key: Any) -> None:
        """Follow the value of `key`; reads no spilled value."""
        fast = getattr(self.worker.data, "fast", None)
        values = getattr(fast, "d", self.worker.data)
        try:
            self.live[key] = weakref.ref(values[key])
        except KeyError:
            return
        except TypeError:
            task = self.worker.state.tasks.get(key)
            self.live[key] = task.nbytes if task is not None and task.nbytes else 0

    def end(self, key: Any) -> None:
        """The key is finished: continue to follow its value, if it has a weak reference."""
        value = self.live.pop(key, 0)
        for one in [one for one, reference in self.finished.items() if reference() is None]:
            del self.finished[one]
        if isinstance(value, weakref.ref) and len(self.finished) < FOLLOWED:
            self.finished[key] = value
        elif isinstance(value, weakref.ref) or value >= LARGE_BYTES:
            self.unfollowed.append(str(key))
            del self.unfollowed[:-FOLLOWED]


class Arming(WorkerPlugin):  # type: ignore[misc]
    """Arms a trace or a leak check on every worker, later ones too."""

    def __init__(self, question: str, verb: str, modules: tuple[str, ...]) -> None:
        self.question, self.verb, self.modules = question, verb, modules
        self.name = f"inspector-{question}"

    def setup(self, worker: Any) -> None:
        """Arm; a failure is reported when the worker is asked."""
        import contextlib
        import json
        import os

        self.worker, self.file = worker, -1
        self.ran: deque[Any] = deque(maxlen=RAN)
        self.delays: dict[Any, float] = {}
        try:
            from inspector.faces.cluster.arming import arm
        except ImportError:
            return
        folder = arm(worker, self.question, self.verb, self.modules)
        if folder is not None:
            with contextlib.suppress(OSError):
                path = str(folder / f"tasks-{os.getpid()}.jsonl")
                self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
                os.write(self.file, json.dumps([worker.address, "", "", 0, 0, 0]).encode() + b"\n")

    def transition(self, key: Any, start: str, finish: str, **_: Any) -> None:
        """Note when and in which thread a task ran, before the worker forgets a released task."""
        if finish == "executing":
            self.delays[key] = self.worker.scheduler_delay  # Dask adds it to the task's times
        task = self.worker.state.tasks.get(key)
        if start == "executing" and task is not None and key in self.worker.threads:
            delay = self.delays.pop(key, 0.0)
            computed = [step for step in task.startstops if step["action"] == "compute"]
            if computed:  # excludes what follows, such as a slow store of the value
                self.note(key, self.worker.threads[key], computed[-1], delay)

    def note(self, key: Any, thread: int, step: Any, delay: float) -> None:
        """Add a row (`Ran` in tracing.py), to the file too, which outlives the worker."""
        import contextlib
        import json
        import os
        import time

        from dask.utils import key_split

        to_monotonic = time.monotonic() - time.time() - delay
        first, last = (round((step[end] + to_monotonic) * 1e9) for end in ("start", "stop"))
        row = (self.worker.address, str(key), key_split(key), thread, first, last)
        self.ran.append(row)
        if self.file >= 0:
            with contextlib.suppress(OSError):  # the disk is full: a dead worker's tasks are then unknown
                os.write(self.file, json.dumps(row).encode() + b"\n")

    def teardown(self, worker: Any) -> None:
        """Disarm, whether the worker was asked or not."""
        import contextlib
        import os

        if self.file >= 0:
            os.close(self.file)
            self.file = -1
        try:
            from inspector.faces.cluster.arming import folder_of, leave
        except ImportError:
            return
        with contextlib.suppress(OSError):  # another worker of this process removed it
            (folder_of(self.question) / f"tasks-{os.getpid()}.jsonl").unlink()
        leave(worker, self.question)


class Disarming(SchedulerPlugin):  # type: ignore[misc]
    """Removes an `Arming` from all workers where its client is killed or loses its connection."""

    def __init__(self, client: str, arming: str) -> None:
        self.client, self.arming = client, arming
        self.name = f"{arming}-disarming"

    def remove_client(self, scheduler: Any, client: str) -> None:
        """The scheduler calls this when the connection to a client ends."""
        import asyncio

        if client == self.client:
            self.task = asyncio.ensure_future(self.disarm(scheduler))

    async def disarm(self, scheduler: Any) -> None:
        """Unregister the plugin of the workers, then this plugin of the scheduler."""
        import contextlib

        with contextlib.suppress(ValueError):  # the client did so itself
            await scheduler.unregister_worker_plugin(comm=None, name=self.arming)
        scheduler.plugins.pop(self.name, None)
