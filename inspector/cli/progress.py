"""How far a search of memory is, on stderr, where that is a terminal."""

from __future__ import annotations

import sys
import time
from typing import Final

PATIENCE_S: Final = 0.3
"""A shorter search says nothing."""
EVERY_S: Final = 0.1


class Progress:
    """Called with (bytes done, bytes in all); Ctrl-C ends the search."""

    def __init__(self) -> None:
        self.began = self.said = time.monotonic()
        self.shown = False

    def __call__(self, done: int, total: int) -> bool:
        """Say it, at most every EVERY_S seconds; True: go on."""
        now = time.monotonic()
        if now - self.began >= PATIENCE_S and now - self.said >= EVERY_S and sys.stderr.isatty():
            self.said, self.shown = now, True
            sys.stderr.write(f"\r searching {total / 1e6:,.0f} MB of memory: {done * 100 // max(total, 1)} %")
            sys.stderr.flush()
        return True

    def clear(self) -> None:
        """Take the line away."""
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
