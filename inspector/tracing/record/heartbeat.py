"""Report the progress of a running trace, from a thread of its own that records nothing."""

# SPDX-License-Identifier: MIT
import _thread
import contextvars
import os
import time
from collections.abc import Callable
from typing import Final

from inspector import _native

FIRST_S: Final = 1.0
"""A shorter trace is not reported."""
EVERY_S: Final = 0.5

Told = Callable[[int, float], None]
"""Called with the records so far and the seconds since the start."""


class Pulse:
    """Calls `told` between `begin` and `end`, never after. `written` returns the records so far.

    Its thread is not one of `threading`: a library that patches that module, as gevent does, counts the
    threads that it knows, and works otherwise where one runs already.
    """

    def __init__(self, told: Told, written: Callable[[], int] = _native.ring_written) -> None:
        self._told, self._written = told, written
        self._over, self._ended = _thread.allocate_lock(), _thread.allocate_lock()
        self._context = contextvars.copy_context()  # by it a notebook finds the cell of the output

    def begin(self) -> None:
        """Start the thread; call it before hooking, so that the start is not traced."""
        self._began, self._process = time.monotonic(), os.getpid()
        self._over.acquire()
        self._ended.acquire()
        _thread.start_new_thread(self._run, ())

    def end(self) -> None:
        """Stop the thread; call it after everything is restored."""
        self._over.release()
        if os.getpid() == self._process:  # in a forked child there is no such thread
            self._ended.acquire()

    def _run(self) -> None:
        try:
            self._context.run(_native.unrecorded, self._beat)
        finally:
            self._ended.release()

    def _beat(self) -> None:
        pause, most = FIRST_S, 0
        while not self._over.acquire(timeout=pause):
            most = max(most, self._written())  # fewer where the ring added repeated calls up meanwhile
            self._told(most, time.monotonic() - self._began)
            pause = EVERY_S
