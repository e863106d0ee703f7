"""How far a long question is, on stderr, where that is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

PATIENCE_S: Final = 0.3
"""A shorter search says nothing."""
EVERY_S: Final = 0.1


def _memory(done: int, total: int) -> str:
    return f"searching {total / 1e6:,.0f} MB of memory: {done * 100 // max(total, 1)} %"


def workers(done: int, total: int) -> str:
    """Of a cluster that is asked."""
    return f"{done:,} of {total:,} workers answered"


@contextmanager
def walks() -> Iterator[None]:
    """A census, a chain or a retained size says how far it is; the line goes when it is done."""
    from inspector import api

    api.listen(sys.stderr.fileno() if sys.stderr.isatty() else -1, PATIENCE_S)
    try:
        yield
    finally:
        if api.listen(-1, 0):
            _clear()


def _clear() -> None:
    sys.stderr.write("\r\x1b[K")
    sys.stderr.flush()


class Progress:
    """Called with (done, in all), bytes of a search unless `words` says otherwise; Ctrl-C ends it."""

    def __init__(self, words: Callable[[int, int], str] = _memory) -> None:
        self.words = words
        self.began = self.said = time.monotonic()
        self.shown = False

    def __call__(self, done: int, total: int) -> bool:
        """Say it, at most every EVERY_S seconds; True: go on."""
        now = time.monotonic()
        if now - self.began >= PATIENCE_S and now - self.said >= EVERY_S and sys.stderr.isatty():
            self.said, self.shown = now, True
            sys.stderr.write(f"\r {self.words(done, total)}")
            sys.stderr.flush()
        return True

    def clear(self) -> None:
        """Take the line away."""
        if self.shown:
            _clear()
