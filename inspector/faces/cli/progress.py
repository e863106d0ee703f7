"""Progress lines on stderr, where stderr is a terminal."""

# SPDX-License-Identifier: MIT
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from inspector.faces import progress_text

PATIENCE_S: Final = 0.3
"""A shorter search shows no progress."""
EVERY_S: Final = 0.1


@contextmanager
def walks() -> Iterator[None]:
    """Show the progress of a census, a chain or a retained size; clear the line at the end."""
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
    """A callback (records, seconds) that shows a trace's progress.

    It writes to the terminal's title where the program prints to the terminal, else to a line.
    """
    is_shared = sys.stdout.isatty()
    start, stop = ("\x1b]2;", "\x07") if is_shared else ("\r ", "\x1b[K")
    shown = False

    def show(records: int, seconds: float) -> None:
        nonlocal shown
        if sys.__stderr__ is not None and sys.__stderr__.isatty():
            if is_shared and not shown:
                sys.__stderr__.write("\x1b[22;2t")  # save the title (xterm's XTWINOPS)
            shown = True
            sys.__stderr__.write(f"{start}{progress_text.traced(records, seconds)}{stop}")
            sys.__stderr__.flush()

    try:
        yield show
    finally:
        if shown and sys.__stderr__ is not None:
            sys.__stderr__.write("\x1b[23;2t" if is_shared else "\r\x1b[K")
            sys.__stderr__.flush()


class Progress:
    """A progress callback (done, total), in bytes unless `words` formats another unit."""

    def __init__(self, words: Callable[[int, int], str] = progress_text.searched) -> None:
        self.words = words
        self.began = self.said = time.monotonic()
        self.shown = False

    def __call__(self, done: int, total: int) -> bool:
        """Show the progress, at most every EVERY_S seconds; True, so that the search goes on."""
        now = time.monotonic()
        if now - self.began >= PATIENCE_S and now - self.said >= EVERY_S and sys.stderr.isatty():
            self.said, self.shown = now, True
            sys.stderr.write(f"\r {self.words(done, total)}")
            sys.stderr.flush()
        return True

    def clear(self) -> None:
        """Clear the line."""
        if self.shown:
            _clear()
