"""What travels to the workers by value (cloudpickle): one without the inspector can load it, and says so.

So nothing here refers to another file of the inspector outside a function body.
"""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any

from distributed import SchedulerPlugin, WorkerPlugin

FOLLOWED = 1000
"""Finished keys that are followed; older ones are let go and counted."""

RAN = 100_000
"""Tasks whose times are kept for a trace; the last ones."""

LARGE_BYTES = 1 << 16
"""A smaller value of a type without weak references is not worth a note."""


async def ask(verb: str, options: dict[str, Any], dask_worker: Any) -> dict[str, Any]:
    """What the worker says to `verb`, as JSON text under "told"; else "absent" or "failed", with the reason.

    It is told in a thread: the worker's own loop goes on.
    """
    import asyncio

    try:
        from inspector.errors import InspectorError
        from inspector.faces.cluster.worker import told
    except ImportError as error:
        return {"absent": str(error)}
    try:
        return {"told": await asyncio.to_thread(told, verb, options, dask_worker)}
    except InspectorError as error:
        return {"failed": str(error)}
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"[:200]}


class Follower(WorkerPlugin):  # type: ignore[misc]
    """Remembers by weak reference which value each key had: who lives on after its key is finished?"""

    name = "inspector"

    def setup(self, worker: Any) -> None:
        """Follow the keys that come from now on, and those that are there; what was followed before stays."""
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
        """Follow the value of `key`; a spilled one is not read back."""
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
        """The key is finished: its value goes on being followed, if that can be."""
        value = self.live.pop(key, 0)
        for one in [one for one, reference in self.finished.items() if reference() is None]:
            del self.finished[one]
        if isinstance(value, weakref.ref) and len(self.finished) < FOLLOWED:
            self.finished[key] = value
        elif isinstance(value, weakref.ref) or value >= LARGE_BYTES:
            self.unfollowed.append(str(key))
            del self.unfollowed[:-FOLLOWED]


class Arming(WorkerPlugin):  # type: ignore[misc]
    """Arms a trace or a ledger on every worker, on those that join later too."""

    def __init__(self, question: str, verb: str, modules: tuple[str, ...]) -> None:
        self.question, self.verb, self.modules = question, verb, modules
        self.name = f"inspector-{question}"

    def setup(self, worker: Any) -> None:
        """Arm; a worker that cannot says so when it is asked."""
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
        """Note when and in which thread a task ran: once released, the worker forgets it."""
        if finish == "executing":
            self.delays[key] = self.worker.scheduler_delay  # Dask adds it to the task's times
        task = self.worker.state.tasks.get(key)
        if start == "executing" and task is not None and key in self.worker.threads:
            delay = self.delays.pop(key, 0.0)
            computed = [step for step in task.startstops if step["action"] == "compute"]
            if computed:  # what came after it, as a slow store of the value, is no part of it
                self.note(key, self.worker.threads[key], computed[-1], delay)

    def note(self, key: Any, thread: int, step: Any, delay: float) -> None:
        """A row of inspector.faces.cluster.tracing.Ran; to the file too, which outlives the worker."""
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
            with contextlib.suppress(OSError):  # the disk is full: what a dead worker ran is then not known
                os.write(self.file, json.dumps(row).encode() + b"\n")

    def teardown(self, worker: Any) -> None:
        """Disarm, asked or not."""
        import contextlib
        import os

        if self.file >= 0:
            os.close(self.file)
            self.file = -1
        try:
            from inspector.faces.cluster.arming import folder_of, leave
        except ImportError:
            return
        with contextlib.suppress(OSError):  # another worker of this process took it away
            (folder_of(self.question) / f"tasks-{os.getpid()}.jsonl").unlink()
        leave(worker, self.question)


class Disarming(SchedulerPlugin):  # type: ignore[misc]
    """Takes an `Arming` away from all workers where its client goes without doing so: killed, or cut off."""

    def __init__(self, client: str, arming: str) -> None:
        self.client, self.arming = client, arming
        self.name = f"{arming}-disarming"

    def remove_client(self, scheduler: Any, client: str) -> None:
        """Called by the scheduler when the connection to a client is over."""
        import asyncio

        if client == self.client:
            self.task = asyncio.ensure_future(self.disarm(scheduler))

    async def disarm(self, scheduler: Any) -> None:
        """Of the workers, then of the scheduler itself."""
        import contextlib

        with contextlib.suppress(ValueError):  # the client itself did it, just before it went
            await scheduler.unregister_worker_plugin(comm=None, name=self.arming)
        scheduler.plugins.pop(self.name, None)
