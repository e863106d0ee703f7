"""Stand in front of ipykernel until it ends."""

# SPDX-License-Identifier: MIT
import shutil
import tempfile
from pathlib import Path

from inspector.debugger.kernel import connection
from inspector.debugger.kernel.ipykernel import Ipykernel, check


def serve(file: str) -> int:
    """Serve until the kernel ends; its exit code. Raises InspectorError."""
    check()
    given = connection.read(file)
    folder = Path(tempfile.mkdtemp(prefix="inspector-kernel-"))
    try:
        inside = connection.written_inside(given, folder)
        kernel = Ipykernel(folder / "kernel.json")  # before ZeroMQ has threads; we import meanwhile
        from inspector.debugger.kernel.front import Front

        return Front(given, inside, kernel).run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
