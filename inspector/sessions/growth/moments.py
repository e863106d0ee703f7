"""The resident set of a process, read again and again while it is watched."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

from inspector.facts.growth import Moment

MOST: Final = 60
"""Moments of one watch: the columns of a picture."""


class Moments:
    """Call it often: it reads the resident set at most MOST times in so many seconds."""

    def __init__(self, pid: int, seconds: float) -> None:
        self._path, self._pause_ns = Path(f"/proc/{pid}/statm"), int(seconds * 1e9 / MOST)
        self._begun, self._next = 0, 0
        self.read = list[Moment]()

    def __call__(self) -> bool:
        """False once the process is gone. The first call begins the time."""
        self._begun = self._begun or time.monotonic_ns()
        at = time.monotonic_ns() - self._begun
        if at < self._next:
            return True
        try:
            pages = int(self._path.read_text().split()[1])
        except (OSError, IndexError, ValueError):
            return False
        self._next = at + self._pause_ns
        self.read.append(Moment(at, pages * os.sysconf("SC_PAGE_SIZE"), ""))
        return True
