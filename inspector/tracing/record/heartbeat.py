"""Report the progress of a running trace, from a thread of its own that records nothing."""

# SPDX-License-Identifier: MIT
import contextvars
import threading
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
    """Calls `told` between `begin` and `end`, never after. `written` returns the records so far."""

    def __init__(self, told: Told, written: Callable[[], int] = _native.ring_written) -> None:
        self._told, self._written = told, written
        self._over = threading.Event()
        context = contextvars.copy_context()  # by it a notebook finds the cell of the output
        self._thread = threading.Thread(
            target=context.run, args=(_native.unrecorded, self._beat), name="inspector-pulse", daemon=True
        )

    def begin(self) -> None:
        """Start the thread; call it before hooking, so that the start is not traced."""
        self._began = time.monotonic()
        self._thread.start()

    def end(self) -> None:
        """Stop the thread; call it after everything is restored."""
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        pause, most = FIRST_S, 0
        while not self._over.wait(pause):
            most = max(most, self._written())  # fewer where the ring added repeated calls up meanwhile
            self._told(most, time.monotonic() - self._began)
            pause = EVERY_S
