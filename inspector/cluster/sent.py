"""What travels to the workers by value (cloudpickle): one without the inspector can load it, and says so.

So nothing here refers to another file of the inspector outside a function body.
"""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any

from distributed import WorkerPlugin

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
        from inspector.cluster.worker import told
    except ImportError as error:
        return {"absent": str(error)}
    try:
        return {"told": await asyncio.to_thread(told, verb, options, dask_worker)}
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
    """Arms a trace on every worker, on those that join later too."""

    name = "inspector-trace"

    def __init__(self, modules: tuple[str, ...]) -> None:
        self.modules = modules

    def setup(self, worker: Any) -> None:
        """Arm; a worker that cannot says so when it is asked."""
        self.worker = worker
        self.ran: deque[Any] = deque(maxlen=RAN)
        self.delays: dict[Any, float] = {}
        try:
            from inspector.cluster.tracing import arm
        except ImportError:
            return
        arm(worker, self.modules)

    def transition(self, key: Any, start: str, finish: str, **_: Any) -> None:
        """Note when and in which thread a task ran: once released, the worker forgets it."""
        if finish == "executing":
            self.delays[key] = self.worker.scheduler_delay  # Dask adds it to the task's times
        task = self.worker.state.tasks.get(key)
        if start == "executing" and task is not None and task.startstops and key in self.worker.threads:
            step, delay = task.startstops[-1], self.delays.pop(key, 0.0)
            self.ran.append((key, self.worker.threads[key], step, delay))

    def teardown(self, worker: Any) -> None:
        """Disarm, asked or not."""
        try:
            from inspector.cluster.tracing import disarm
        except ImportError:
            return
        disarm(worker)
