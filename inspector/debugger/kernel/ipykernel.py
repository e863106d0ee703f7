"""ipykernel as our child: in a session of its own, as a front end would start it."""

# SPDX-License-Identifier: MIT
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Final

from inspector.errors import InspectorError

OLDEST: Final = (6, 29)
_PR_SET_PDEATHSIG: Final = 1
_COMMAND: Final = ("-Xfrozen_modules=off", "-m", "ipykernel_launcher", "-f")


def check() -> None:
    """Raise InspectorError ipykernel-missing, debugpy-missing where they cannot be used."""
    found = _version("ipykernel")
    if not found or tuple(int(part) for part in found.split(".")[:2]) < OLDEST:
        raise InspectorError(
            f"ipykernel {'.'.join(map(str, OLDEST))} or newer is needed.",
            slug="ipykernel-missing",
            why=f"this Python has {found}" if found else "this Python has none",
            do="pip install -U ipykernel",
        )
    if not _version("debugpy"):
        raise InspectorError(
            "Python is debugged by debugpy, which is not installed.",
            slug="debugpy-missing",
            do="pip install 'native-inspector[debug]'",
        )


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


class Ipykernel:
    """The started kernel."""

    def __init__(self, file: Path) -> None:
        die = ctypes.CDLL(None).prctl  # it ends with us, also when we are killed while C code has its GIL
        self.child = subprocess.Popen(
            [sys.executable, *_COMMAND, str(file)],
            env={**os.environ, "JPY_PARENT_PID": str(os.getpid())},
            preexec_fn=lambda: die(_PR_SET_PDEATHSIG, signal.SIGKILL),
            start_new_session=True,
        )
        self.pid = self.child.pid
        self.pidfd = os.pidfd_open(self.pid)

    def signal(self, number: int) -> None:
        """Pass a signal on, as a front end sends it: SIGINT to what the kernel has started too."""
        with contextlib.suppress(ProcessLookupError):
            (os.killpg if number == signal.SIGINT else os.kill)(self.pid, number)

    def ended(self) -> int:
        """Its exit code, -N for signal N, once it has ended."""
        return self.child.wait()
