"""Check the installed gdb, and whether its Python can import our facts."""

# SPDX-License-Identifier: MIT
import re
import shutil
import subprocess
from typing import Final

from inspector.facts.machine import Check

OLDEST_PYTHON: Final = (3, 11)
"""The oldest Python in gdb that can import our facts, which the agent needs."""
DEADLINE_S: Final = 20
_ASK: Final = "python import sys; print('python', '%d.%d.%d' % sys.version_info[:3])"


def check() -> Check:
    """Run gdb once, without a program."""
    path = shutil.which("gdb")
    if path is None:
        return Check("gdb", "no", "not found", "sudo apt-get install gdb")
    try:
        printed = subprocess.run(
            [path, "-nx", "-batch", "-ex", "show version", "-ex", _ASK],
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        ).stdout
    except subprocess.TimeoutExpired:
        return Check(
            "gdb", "no", f"{path} did not answer in {DEADLINE_S} s", "gdb -nx -batch -ex 'show version'"
        )
    return judged(printed)


def judged(printed: str) -> Check:
    """The check for what gdb printed."""
    version = re.search(r"GNU gdb.*?(\d+\.\d+)", printed)
    python = re.search(r"^python (\d+)\.(\d+)\.(\d+)$", printed, re.MULTILINE)
    name = version[1] if version else "unknown version"
    if python is None:
        return Check(
            "gdb", "no", f"{name}, built without Python", "sudo apt-get install gdb (not gdb-minimal)"
        )
    says = f"{name} with Python {'.'.join(python.groups())}"
    if (int(python[1]), int(python[2])) < OLDEST_PYTHON:
        return Check("gdb", "part", f"{says}: older than 3.11", "a gdb built with Python 3.11 or later")
    return Check("gdb", "ok", says, "")
