"""Python in a process of its own."""

# SPDX-License-Identifier: MIT
import os
import subprocess
import sys
from pathlib import Path


def ran(
    *words: str | Path, python: str = sys.executable, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """`python -P WORDS` with its output in pipes, and these variables beside the environment's."""
    command, everything = [python, "-P", *words], {**os.environ, **environment}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, cwd=cwd, env=everything
    )


def printed(*words: str | Path, cwd: Path | None = None, **environment: str) -> str:
    """What `python -P WORDS` prints; it ends well."""
    done = ran(*words, cwd=cwd, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout
