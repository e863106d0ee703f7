"""A script of R under `inspector break --preset reticulate`: its hits, from one command."""

# SPDX-License-Identifier: MIT
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def rscript() -> str:
    """Where Rscript is; skips the test where there is no R."""
    found = shutil.which("Rscript")
    if found is None:
        pytest.skip("cannot be installed here: R")
    return found


def ran(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """A command in this folder, with reticulate on this Python; it has to succeed."""
    environment = {**os.environ, "RETICULATE_PYTHON": sys.executable}
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, cwd=folder, env=environment)
    assert done.returncode == 0, done.stderr
    return done


def hits(folder: Path, script: str, python: str) -> list[dict[str, Any]]:
    """What reticulate's functions were reached with, while Rscript ran `script` with this `python`."""
    (folder / "seed.R").write_text(script)
    command = [Path(sys.executable).parent / "inspector", "break", "--json", "--preset", "reticulate", "--"]
    done = subprocess.run(
        [*command, rscript(), str(folder / "seed.R")],
        capture_output=True,
        text=True,
        env={**os.environ, "RETICULATE_PYTHON": python},
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["facts"]["breaks"]["hits"]
    return found
