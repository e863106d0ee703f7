"""Cache folders by key: any process finds a module built once; the oldest are removed."""

# SPDX-License-Identifier: MIT
import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

KEPT_MAX: Final = 256
"""Most modules kept; those loaded longest ago are removed first."""


def root() -> Path:
    """The cache folder: `$XDG_CACHE_HOME/native-inspector/c`, by default under ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "native-inspector" / "c"


def found(key: str) -> Path | None:
    """The folder kept under `key`, or None."""
    folder = root() / key
    if not (folder / "done").exists():
        return None
    with contextlib.suppress(OSError):
        os.utime(folder)
    return folder


def made(key: str, build: Callable[[Path], None]) -> Path:
    """The folder under `key`, filled by `build`; created atomically, also with other builders at work."""
    root().mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix="unfinished-", dir=root()))
    try:
        build(unfinished)
        (unfinished / "done").touch()
        with contextlib.suppress(OSError):  # another process was faster: use its folder
            unfinished.rename(root() / key)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    _sweep()
    return root() / key


def _sweep() -> None:
    kept = sorted((path for path in root().iterdir() if path.is_dir()), key=_used, reverse=True)
    for folder in kept[KEPT_MAX:]:
        shutil.rmtree(folder, ignore_errors=True)


def _used(folder: Path) -> float:
    with contextlib.suppress(OSError):
        return folder.stat().st_mtime
    return 0.0
