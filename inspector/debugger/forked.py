"""Run a function in a forked child under gdb, which the user steps while this process stays alive."""

# SPDX-License-Identifier: MIT
import contextlib
import os
import select
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from inspector.debugger import stepped
from inspector.debugger.client import Client
from inspector.debugger.memory import proc
from inspector.debugger.presets.places import asked
from inspector.debugger.stepped import Answer
from inspector.errors import InspectorError
from inspector.facts.amounts import counted
from inspector.objects.isolation import fork_waiting, running_threads

UNSAFE: Final = ("libgomp", "libtorch", "libcuda", "libiomp")
"""Libraries whose threads do not survive a fork: the child could wait for them forever."""
_QUIET_S: Final = 1.0
"""Seconds to wait for a moment in which no other thread runs."""


class Forked:
    """One child under gdb, owned; `close` ends it."""

    def __init__(self, function: Callable[[], None], places: Sequence[str], folder: str = "") -> None:
        """`folder`: the child's files, removed by `close`."""
        _check_fork()
        self.folder = folder
        wanted = asked(places, None, ()) if places else ()
        self._open = contextlib.ExitStack()
        self._open.callback(shutil.rmtree, folder, ignore_errors=True)
        self.pid, go, self._output = fork_waiting(function)
        self._open.callback(self._end)
        self._open.callback(os.close, self._output)
        self._open.callback(os.close, go)
        try:
            self._client = self._open.enter_context(contextlib.closing(Client(self.pid)))
            stepped.begin(self._client, wanted)
            os.write(go, b"x")
        except BaseException:
            self._open.close()
            raise
        self.ended = False

    def wait(self, deadline_s: float) -> Answer:
        """The first stop, or the next one."""
        return self.command("await", deadline_s=deadline_s)

    def command(self, word: str, argument: str = "", deadline_s: float = 30.0) -> Answer:
        """Carry out one of `stepped.COMMANDS`. Raises InspectorError: gdb-late, gdb-refused, gdb-ended."""
        answer = stepped.command(self._client, word, argument, deadline_s)
        output = self.output()
        if answer.stop is None:
            self.ended = True
            self.close()
        return answer._replace(output=output)

    def output(self) -> str:
        """What the child has printed since the last call."""
        found = b""
        while select.select([self._output], [], [], 0)[0] and (read := os.read(self._output, 1 << 16)):
            found += read
        return found.decode("utf-8", "replace")

    def close(self) -> None:
        """Detach gdb, and end the child."""
        self._open.close()

    def _end(self) -> None:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)


def _check_fork() -> None:
    """Refuse where a forked child could hang. Raises InspectorError fork-unsafe."""
    loaded = {Path(mapping.path).name for mapping in proc.code(os.getpid())}
    found = sorted(name for name in loaded if name.startswith(UNSAFE))
    if found:
        why = f"{found[0]} is loaded: its threads do not exist in the child, which could wait forever"
        do = "%%inspect_break works in this kernel; `inspector break` runs a program under gdb"
        raise _unsafe("here", why, do)
    limit = time.monotonic() + _QUIET_S
    while (busy := running_threads()) and time.monotonic() < limit:
        time.sleep(0.01)
    if busy:
        why = f"{counted(busy, 'other thread')} running; locks they hold would never be released"
        raise _unsafe("now", why, "try again when they have finished, or use %%inspect_break")


def _unsafe(when: str, why: str, do: str) -> InspectorError:
    what = f"the cell cannot be run in a forked child {when}."
    return InspectorError(what, slug="fork-unsafe", why=why, do=do)
