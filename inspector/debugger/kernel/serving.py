"""Stand in front of ipykernel until it ends."""

# SPDX-License-Identifier: MIT
import fcntl
import shutil
import tempfile
import time
from pathlib import Path
from typing import Final

from inspector.debugger.kernel import connection
from inspector.debugger.kernel.ipykernel import Ipykernel, check

_BEGINS: Final = "inspector-kernel-"
_NEW_S: Final = 60.0
"""Seconds in which a front may not have locked its folder yet."""


def serve(file: str) -> int:
    """Serve until the kernel ends; its exit code. Raises InspectorError."""
    check()
    given = connection.read(file)
    sweep()
    folder = Path(tempfile.mkdtemp(prefix=_BEGINS))
    try:
        lock = (folder / "lock").open("w")  # until we end, in whatever way
        fcntl.flock(lock, fcntl.LOCK_EX)
        inside = connection.written_inside(given, folder)
        kernel = Ipykernel(folder / "kernel.json")  # before ZeroMQ has threads; we import meanwhile
        from inspector.debugger.kernel.front import Front

        return Front(given, inside, kernel).run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sweep() -> None:
    """Remove the folders of fronts that were killed: nobody locks them any more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_BEGINS}*"):
        try:
            if time.time() - folder.stat().st_mtime > _NEW_S:
                with (folder / "lock").open() as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # a front has it, or another user
            continue
