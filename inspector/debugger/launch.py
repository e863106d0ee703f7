"""Run a program under gdb from its first instruction, or watch a running process for some seconds.

The program is our child, not gdb's: a stub waits until gdb has attached and set the breakpoints, then becomes
the program (execve(2)), which gdb follows. So the program uses our terminal, and we get its exit code.
"""

# SPDX-License-Identifier: MIT
import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from inspector.debugger.client import ATTACH_S, Client, python
from inspector.debugger.presets.places import Asked
from inspector.debugger.session import gathered
from inspector.errors import InspectorError
from inspector.facts.stack import Hits

_STUB: Final = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(0x59616D61, ctypes.c_ulong(-1), 0, 0, 0)
os.read(int(sys.argv[1]), 1)
os.closerange(3, 64)
os.execvp(sys.argv[2], sys.argv[2:])
"""
"""PR_SET_PTRACER_ANY, because under Yama 1 only a parent may trace. execve resets it."""


def launched(
    command: Sequence[str],
    places: Sequence[Asked],
    options: Mapping[str, Any],
    quiet: bool = False,
    environment: Mapping[str, str] | None = None,
) -> tuple[Hits, int]:
    """The hits until the program ended, and its exit code; -N for signal N.

    `quiet`: the program's output goes to stderr. Raises InspectorError no-program, and what attaching
    raises.
    """
    if shutil.which(command[0]) is None:
        raise InspectorError(
            f"there is no program {command[0][:80]!r}.",
            slug="no-program",
            do="give its path, or put it on PATH",
        )
    reader, writer = os.pipe()
    child = subprocess.Popen(
        [python(), "-I", "-S", "-c", _STUB, str(reader), *command],
        pass_fds=[reader],
        stdout=sys.stderr.fileno() if quiet else None,
        env=environment,
    )
    os.close(reader)
    try:
        with contextlib.closing(Client(child.pid)) as client:
            started = _begun(client, places, options)
            os.write(writer, b"x")
            code = _wait(child.wait)
            return _gathered(client, started), code
    finally:
        os.close(writer)
        if child.poll() is None:
            child.kill()
            child.wait()


def watched(pid: int, places: Sequence[Asked], options: Mapping[str, Any], seconds: float) -> Hits:
    """The hits of process `pid` within `seconds`, or until it ended. The process is left unchanged."""
    with contextlib.closing(Client(pid)) as client:
        started = _begun(client, places, options)
        limit = time.monotonic() + seconds
        with contextlib.suppress(InspectorError, KeyboardInterrupt):
            client.await_event("exited", "ended", deadline_s=max(0.0, limit - time.monotonic()))
        return _gathered(client, started)


def _begun(client: Client, places: Sequence[Asked], options: Mapping[str, Any]) -> Mapping[str, Any]:
    return client.call(
        "start", ATTACH_S, places=[place._asdict() for place in places], signals=True, **options
    )


def _wait(until: Callable[[], int]) -> int:
    """Call `until` to its end: Ctrl-C reaches the program too, which decides what to do."""
    while True:
        with contextlib.suppress(KeyboardInterrupt):
            return until()


def _gathered(client: Client, started: Mapping[str, Any]) -> Hits:
    counts: Mapping[str, Any] = {}
    with contextlib.suppress(InspectorError):
        counts = client.call("leave", 30.0)
    return gathered(client, started, counts)
