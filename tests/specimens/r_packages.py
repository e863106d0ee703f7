"""R packages of tests/seeds, built by `R CMD INSTALL` once for each content, and R's console as text."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

SEEDS = Path(__file__).resolve().parents[1] / "seeds"


@functools.cache
def install(name: str) -> Path:
    """The R library (a folder for R_LIBS) that holds the package of tests/seeds/`name`."""
    source = SEEDS / name
    files = sorted(path for path in source.rglob("*") if path.is_file())
    key = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]
    library = _cache() / f"R-{key}"
    if not (library / name / "DESCRIPTION").exists():
        _build(source, library)
    return library


def _build(source: Path, library: Path) -> None:
    """Build in a copy: R leaves its objects beside the sources."""
    library.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(source, Path(folder) / source.name)
        options = ("--no-docs", "--no-test-load", "--no-byte-compile")
        command = ["R", "CMD", "INSTALL", *options, "-l", str(library), str(copy)]
        made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode:
        raise RuntimeError(f"{source.name} does not build:\n{made.stderr}")


def start(*packages: str) -> Any:
    """`rpy2.rinterface` with R started in this process, and the packages of tests/seeds found by R."""
    import rpy2.rinterface as r

    r.initr()
    for name in packages:
        r.evalr(f".libPaths(c('{install(name)}', .libPaths()))")
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


def _cache() -> Path:
    default = Path(__file__).resolve().parents[2] / "build" / "specimens"
    return Path(os.environ.get("INSPECTOR_SPECIMENS", default))
