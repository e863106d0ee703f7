"""`attach(pid)`: inspect another Python process."""

# SPDX-License-Identifier: MIT
import contextlib
import time
from functools import partial
from typing import Final

from inspector.debugger import preflight
from inspector.debugger.attach.held import AGAIN_S, held
from inspector.debugger.attach.objects import Objects
from inspector.debugger.attach.runtime import Runtime, runtime
from inspector.debugger.attach.sampling import opened, sampled
from inspector.debugger.memory.remote_memory import RemoteMemory
from inspector.errors import InspectorError
from inspector.facts.refs import Owners
from inspector.facts.remote import Remote, Samples
from inspector.facts.stack import Stacks

LOOK_S: Final = 20.0
OWNERS_S: Final = 120.0
_TRIES: Final = 5


class Attached:
    """Another running Python, 3.11 to 3.15, inspected from outside; no code runs in it."""

    def __init__(self, pid: int) -> None:
        preflight.check_access(pid)
        memory = opened(pid)
        try:
            self.pid, self._runtime = pid, _found(memory)
        finally:
            memory.close()
        self.python = self._runtime.version

    def __repr__(self) -> str:
        return f"<Attached to {self.pid}, Python {self.python}>"

    def inspect(self, expression: str) -> Remote:
        """The object at a path: type, references, bounded value, contents."""
        found: Remote = held(self.pid, partial(_look, self._runtime, expression), Remote, LOOK_S)
        return found

    def owners(self, expression: str) -> Owners:
        """The holders of the object at a path; the process is stopped while its memory is searched."""
        found: Owners = held(self.pid, partial(_owners, self._runtime, expression), Owners, OWNERS_S)
        return found

    def stacks(self) -> Stacks:
        """The merged stacks of its threads; only Python frames where pystack is missing or fails."""
        from inspector.debugger.stacks import stacks

        try:
            return stacks(self.pid)
        except InspectorError as error:
            if error.slug not in ("pystack-missing", "no-stacks"):
                raise
        found: Stacks = held(self.pid, partial(_stacks, self._runtime), Stacks, LOOK_S)
        return found

    def sample(self, seconds: float) -> Samples:
        """Where it spends its time: its Python frames, sampled every 10 ms without stopping it."""
        return sampled(self.pid, self._runtime, seconds)


def _found(memory: RemoteMemory) -> Runtime:
    """The runtime of a running process; retries, because its memory may change while it is read."""
    for _ in range(_TRIES - 1):
        with contextlib.suppress(InspectorError):
            return runtime(memory)
        time.sleep(AGAIN_S)
    return runtime(memory)


def _look(found: Runtime, expression: str, memory: RemoteMemory) -> Remote:
    from inspector.debugger.attach.look import look

    return look(Objects(memory, found.frames, found.where), found, expression)


def _owners(found: Runtime, expression: str, memory: RemoteMemory) -> Owners:
    from inspector.debugger.attach.holders import owners

    return owners(Objects(memory, found.frames, found.where), found, expression)


def _stacks(found: Runtime, memory: RemoteMemory) -> Stacks:
    from inspector.debugger.attach.sampling import python_stacks

    return python_stacks(memory, found)
