"""Ctrl-C around a trace: it ends the traced code as ever, and never the arming and the putting back.

An interrupt is raised where Python looks for signals next: that may be the first instruction of the
`__exit__` that is to put everything back (after `c = a @ b`, an operator that does not look). So while a
trace runs SIGINT leads here: what comes during our own steps waits until they are done.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any


class Interrupts:
    """SIGINT's own handler is put back when the trace is over, and then takes what came meanwhile."""

    def __init__(self, *guarded: CodeType) -> None:
        self.guarded = guarded
        """Code whose very first instruction must not be interrupted."""
        self.held = True
        self.is_over = False
        """Ended by a thread that could not put the handler back."""
        self._before: Any = None
        self._came: int | None = None

    @contextmanager
    def begun(self) -> Iterator[None]:
        """Around the arming; where the calling thread can set a handler: the main one (signal.signal)."""
        before = _behind(signal.getsignal(signal.SIGINT))
        if _is_main() and callable(before):
            self._before, self._came, self.held, self.is_over = before, None, True, False
            signal.signal(signal.SIGINT, self._take)
        try:
            yield
        except BaseException:
            self._end()
            raise
        self.held = False

    @contextmanager
    def over(self) -> Iterator[None]:
        """Around the putting back. Raises KeyboardInterrupt at its end where one came meanwhile."""
        self.held = True
        try:
            yield
        finally:
            self._end()

    def _end(self) -> None:
        if not _is_main():
            self._pass_on()
            return
        before, self._before = self._before, None
        if before is not None and signal.getsignal(signal.SIGINT) == self._take:
            signal.signal(signal.SIGINT, before)
        if before is not None and self._came is not None:
            before(self._came, None)

    def _pass_on(self) -> None:
        """Another thread ends it, which may set no handler: ours stays, and gives all to the one before."""
        self.is_over = True
        if self._before is not None and self._came is not None:
            signal.raise_signal(self._came)

    def _take(self, number: int, frame: FrameType | None) -> None:
        if not self.is_over and (self.held or (frame is not None and frame.f_code in self.guarded)):
            self._came = number
        elif self._before is not None:
            self._before(number, frame)


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


def _behind(hears: Any) -> Any:
    """The handler that one of ours which is over stands before."""
    ours = getattr(hears, "__self__", None)
    return ours._before if isinstance(ours, Interrupts) and ours.is_over else hears
