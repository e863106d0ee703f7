"""How far a long question is, on stderr, where that is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from inspector.faces import progress_text

PATIENCE_S: Final = 0.3
"""A shorter search says nothing."""
EVERY_S: Final = 0.1


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


@contextmanager
def traced() -> Iterator[Callable[[int, float], None]]:
    """What a traced program tells how far it is: the terminal's title where it prints there, else a line."""
    is_shared = sys.stdout.isatty()
    start, stop = ("\x1b]2;", "\x07") if is_shared else ("\r ", "\x1b[K")
    said: list[float] = []

    def told(records: int, seconds: float) -> None:
        if sys.__stderr__ is not None and sys.__stderr__.isatty():
            if is_shared and not said:
                sys.__stderr__.write("\x1b[22;2t")  # the title is kept (xterm's XTWINOPS)
            said.append(seconds)
            sys.__stderr__.write(f"{start}{progress_text.traced(records, seconds)}{stop}")
            sys.__stderr__.flush()

    try:
        yield told
    finally:
        if said and sys.__stderr__ is not None:
            sys.__stderr__.write("\x1b[23;2t" if is_shared else "\r\x1b[K")
            sys.__stderr__.flush()


class Progress:
    """Called with (done, in all), bytes of a search unless `words` says otherwise; Ctrl-C ends it."""

    def __init__(self, words: Callable[[int, int], str] = progress_text.searched) -> None:
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
