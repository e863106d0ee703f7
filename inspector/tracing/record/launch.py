"""Run a program whose Python begins the trace itself, and check whether it contains a Python."""

# SPDX-License-Identifier: MIT
import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from inspector.errors import InspectorError

SETTINGS: Final = "INSPECTOR_TRACE"
STARTED_BY: Final = (b"Py_InitializeFromConfig", b"Py_InitializeEx", b"Py_BytesMain", b"Py_RunMain")
"""Symbols in a program that contains libpython or is linked to it."""
FIRST_S, EVERY_S = 0.02, 0.2
"""Seconds between checks of the running program; the short ones in its first second."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a launched program ended."""

    pid: int
    code: int
    """Exit code; -N: signal N."""
    python_seen: bool
    """Whether a libpython was mapped, or the program itself contains one."""


def run(command: Sequence[str], settings: dict[str, Any], first: str, quiet: bool) -> Ended:
    """Run `command` with the folder `first` before its PYTHONPATH; `quiet`: its output goes to stderr.

    Raises InspectorError `no-program`.
    """
    told = environment(settings, first)
    if settings["grade"] != "ledger":  # under leaks R's profile hid what reticulate loses
        told |= of_r(command[0], settings["folder"])
    try:
        child = subprocess.Popen(command, env=told, stdout=sys.stderr.fileno() if quiet else None)
    except OSError as error:
        raise _cannot_run(command[0], error) from None
    seen = _holds_python(command[0])
    while True:
        with contextlib.suppress(KeyboardInterrupt):  # the program gets SIGINT too, and decides
            seen = _watched(child, seen)
            return Ended(child.pid, child.wait(), seen)


def environment(settings: dict[str, Any], first: str) -> dict[str, str]:
    """The environment of a child whose Python begins a trace at its start."""
    found = dict(os.environ)
    settings = {**settings, "parent": os.getpid(), "pythonpath": found.get("PYTHONPATH")}
    found[SETTINGS] = json.dumps(settings)
    found["PYTHONPATH"] = os.pathsep.join(filter(None, [first, found.get("PYTHONPATH")]))
    return found


def of_r(program: str, folder: str) -> dict[str, str]:
    """What R's environment needs so that its functions have lines, and its statements are counted."""
    if Path(program).name not in ("R", "Rscript"):
        return {}
    profile = str(Path(__file__).parent / "r" / "profile.R")
    own = os.environ.get("R_PROFILE_USER", "")
    statements = str(Path(folder) / "statements-")
    return {
        "R_PROFILE_USER": profile, "INSPECTOR_R_PROFILE": own, "INSPECTOR_R_STATEMENTS": statements,
    }  # fmt: skip


def run_lazy(command: Sequence[str], folder: str, quiet: bool) -> int:
    """Run R or Rscript so that it notes its lazy vectors into a folder; its exit code.

    Raises InspectorError `no-program`, `no-r`.
    """
    library, before = _library(command[0]), os.environ.get("LD_PRELOAD", "")
    told = of_r(command[0], folder) | {
        "INSPECTOR_R_LAZY": str(Path(folder) / "lazy-"), "INSPECTOR_R_LIBRARY": library,
        "INSPECTOR_R_PRELOAD": before, "LD_PRELOAD": f"{library} {before}".strip(),
    }  # fmt: skip
    return _ran(command, told, quiet)


def run_check(command: Sequence[str], path: Path) -> int:
    """Run Rscript, whose last -e gives the vector that is asked; what it says goes to `path`.

    Raises InspectorError `no-program`, `no-r`.
    """
    library = _library(command[0])
    *others, last, expression = command if "-e" in command[-2:-1] else (*command, "-e", "NULL")
    find = f"getNativeSymbolInfo('inspector_check_altrep', dyn.load('{library}'))"
    asks = f"invisible(.Call({find}, {{\n{expression}\n}}, '{path}'))"
    return _ran([*others, last, asks], {}, True)


def _library(program: str) -> str:
    """Our library for R's processes. Raises InspectorError `no-r` for another program."""
    library = Path(__file__).parent / "r" / "in_r.so"
    if not of_r(program, "") or not library.exists():
        raise InspectorError(
            f"{Path(program).name[:60]} is not R.",
            slug="no-r",
            why="lazy vectors (ALTREP) are R's",
            do="give it R or Rscript after --",
        )
    return str(library)


def _ran(command: Sequence[str], told: dict[str, str], quiet: bool) -> int:
    """Run a program to its end; its exit code."""
    output = sys.stderr.fileno() if quiet else None
    try:
        child = subprocess.Popen(command, env={**os.environ, **told}, stdout=output)
    except OSError as error:
        raise _cannot_run(command[0], error) from None
    while True:
        with contextlib.suppress(KeyboardInterrupt):  # the program gets SIGINT too, and decides
            return child.wait()


def _watched(child: subprocess.Popen[bytes], seen: bool) -> bool:
    """Wait for its end; return whether a Python was seen in it."""
    began = time.monotonic()
    while not seen:
        seen = _maps_python(child.pid)
        try:
            child.wait(FIRST_S if time.monotonic() - began < 1 else EVERY_S)
        except subprocess.TimeoutExpired:
            continue
        return seen
    return True


def _maps_python(pid: int) -> bool:
    try:
        if "/libpython3" in Path(f"/proc/{pid}/maps").read_text():
            return True
        return _names_start(Path(f"/proc/{pid}/exe"))
    except OSError:
        return False


def _holds_python(program: str) -> bool:
    path = shutil.which(program)
    return path is not None and _names_start(Path(path))


def _names_start(path: Path) -> bool:
    """Whether a program's symbols show that it starts an interpreter."""
    try:
        content = path.read_bytes()
    except OSError:
        return False
    return any(name in content for name in STARTED_BY)


def _cannot_run(program: str, error: OSError) -> InspectorError:
    return InspectorError(
        f"cannot run {program[:80]!r}: {error.strerror}.",
        slug="no-program",
        do="give its path, or put it on PATH",
    )
