"""A program started under gdb from its first instruction on, or a running one watched for a while.

The program is our child, not gdb's: a stub waits until gdb has attached and planted, then becomes the
program (execve(2)), which gdb follows. So its input and output are the terminal's own, and its exit code is
ours to see.
"""

from __future__ import annotations

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
"""PR_SET_PTRACER_ANY: under Yama 1 only a parent may trace, and gdb is none. It ends with execve."""


def launched(
    command: Sequence[str],
    places: Sequence[Asked],
    options: Mapping[str, Any],
    quiet: bool = False,
    environment: Mapping[str, str] | None = None,
) -> tuple[Hits, int]:
    """What was collected until the program ended, and its exit code; -N for signal N.

    `quiet`: what the program prints goes to stderr. Raises InspectorError no-program, and what attaching
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
            told = _begun(client, places, options)
            os.write(writer, b"x")
            code = _wait(child.wait)
            return _gathered(client, told), code
    finally:
        os.close(writer)
        if child.poll() is None:
            child.kill()
            child.wait()


def watched(pid: int, places: Sequence[Asked], options: Mapping[str, Any], seconds: float) -> Hits:
    """What process `pid` reached within `seconds`, or until it ended. It is left as it was found."""
    with contextlib.closing(Client(pid)) as client:
        told = _begun(client, places, options)
        limit = time.monotonic() + seconds
        with contextlib.suppress(InspectorError, KeyboardInterrupt):
            client.await_event("exited", "ended", deadline_s=max(0.0, limit - time.monotonic()))
        return _gathered(client, told)


def _begun(client: Client, places: Sequence[Asked], options: Mapping[str, Any]) -> Mapping[str, Any]:
    return client.call(
        "start", ATTACH_S, places=[place._asdict() for place in places], signals=True, **options
    )


def _wait(until: Callable[[], int]) -> int:
    """An interrupt of the terminal reaches the program as well: what it does with it is waited for."""
    while True:
        with contextlib.suppress(KeyboardInterrupt):
            return until()


def _gathered(client: Client, told: Mapping[str, Any]) -> Hits:
    counts: Mapping[str, Any] = {}
    with contextlib.suppress(InspectorError):
        counts = client.call("leave", 30.0)
    return gathered(client, told, counts)
