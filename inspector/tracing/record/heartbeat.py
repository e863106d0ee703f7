"""Tells how far a running trace is, from a thread of its own that records nothing."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable
from typing import Final

from inspector import _native

FIRST_S: Final = 1.0
"""A shorter trace is not told of."""
EVERY_S: Final = 0.5

Told = Callable[[int, float], None]
"""Takes records so far and seconds since the start."""


class Pulse:
    """Calls `told` from `begin` to `end`; afterwards never again. `written` counts the records so far."""

    def __init__(self, told: Told, written: Callable[[], int] = _native.ring_written) -> None:
        self._told, self._written = told, written
        self._over = threading.Event()
        context = contextvars.copy_context()  # in which a notebook knows the cell that output belongs to
        self._thread = threading.Thread(
            target=context.run, args=(_native.unrecorded, self._beat), name="inspector-pulse", daemon=True
        )

    def begin(self) -> None:
        """Before anything is hooked: starting a thread is no part of the trace."""
        self._began = time.monotonic()
        self._thread.start()

    def end(self) -> None:
        """When all is put back."""
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        pause = FIRST_S
        while not self._over.wait(pause):
            self._told(self._written(), time.monotonic() - self._began)
            pause = EVERY_S
