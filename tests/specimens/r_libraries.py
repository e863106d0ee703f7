"""R libraries of tests/seeds, compiled by `R CMD SHLIB` once for each content, and R's console as text."""

# SPDX-License-Identifier: MIT
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import specimens

SEEDS = Path(__file__).resolve().parents[1] / "seeds"


@functools.cache
def built(name: str) -> Path:
    """The shared library of tests/seeds/`name`/`name`.c, made for the R of this machine."""
    source = SEEDS / name / f"{name}.c"
    version = subprocess.run(["R", "--version"], check=True, capture_output=True).stdout
    key = hashlib.sha256(source.read_bytes() + version).hexdigest()[:16]
    library = specimens._cache() / f"R-{key}" / f"{name}.so"
    if not library.exists():
        library.parent.mkdir(parents=True, exist_ok=True)
        _compile(source, library)
    return library


def _compile(source: Path, library: Path) -> None:
    """Compile in a copy: R leaves its objects beside the source."""
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        shutil.copy(source, folder)
        warned = {**os.environ, "PKG_CFLAGS": "-Wall -Wextra -Wno-unused-parameter -Werror"}
        command = ["R", "CMD", "SHLIB", source.name]
        made = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=warned)
        if made.returncode:
            raise RuntimeError(f"{source.name} does not compile:\n{made.stderr}")
        (Path(folder) / library.name).replace(library)


def start(*names: str) -> Any:
    """`rpy2.rinterface` with R started in this process; R has the functions of these libraries."""
    import rpy2.rinterface as r

    r.initr()
    for name in names:
        r.evalr(f"{name} <- '{built(name).with_suffix('')}'; source('{SEEDS / name / name}.R')")
    return r


def printed(r: Any, expression: str) -> str:
    """What R writes to its console while it evaluates `expression`."""
    from rpy2.rinterface_lib import callbacks

    said: list[str] = []
    before, callbacks.consolewrite_print = callbacks.consolewrite_print, said.append
    try:
        r.evalr(expression)
    finally:
        callbacks.consolewrite_print = before
    return "".join(said)
