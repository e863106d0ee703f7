"""The real `inspector` program as a subprocess, with a clean environment."""

# SPDX-License-Identifier: MIT
import os
import pty
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(sys.executable).parent


def inspector(
    *arguments: str, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """`inspector ARGUMENTS`, its output in pipes."""
    return subprocess.run(
        [SCRIPTS / "inspector", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        cwd=cwd or "/",
        env=_environment(environment),
    )


def plain(*command: str) -> subprocess.CompletedProcess[str]:
    """Any command from `/`, in the environment of the tests, its output in pipes."""
    return subprocess.run(command, capture_output=True, text=True, cwd="/", timeout=60)


def python(script: str, *words: str, **environment: str) -> str:
    """What a script prints in a Python of its own, where it ends with 0 and complains of nothing."""
    command = [sys.executable, "-P", "-c", script, *words]
    given = os.environ | environment
    ran = subprocess.run(command, capture_output=True, text=True, cwd="/", timeout=250, env=given)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def in_terminal(*arguments: str, columns: int = 80, **environment: str) -> tuple[int, str]:
    """`inspector ARGUMENTS` in a pseudo-terminal: exit code and what it would show."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [SCRIPTS / "inspector", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd="/",
        env=_environment({"TERM": "xterm-256color", "COLUMNS": str(columns), **environment}),
    )
    os.close(theirs)
    shown = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    return process.wait(timeout=60), shown.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other end is closed
        return b""


def _environment(more: dict[str, str]) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": "/tmp", "LANG": "C.UTF-8", **more}
