"""Ctrl-C around a trace: it interrupts the traced code as usual, but never the patching and restoring.

Python raises KeyboardInterrupt where it next checks for signals: that may be the first instruction of the
`__exit__` that restores everything (after `c = a @ b`, an operator without a check). So while a trace runs
this module handles SIGINT, and delays signals that arrive during our own steps until these are done.
"""

# SPDX-License-Identifier: MIT
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

from inspector.objects.collector import uncollected


class Interrupts:
    """Handles SIGINT during a trace; then restores the previous handler and passes it delayed signals."""

    def __init__(self, *guarded: CodeType) -> None:
        self.guarded = guarded
        """Code that must not be interrupted at its first instruction."""
        self.held = True
        self.is_over = False
        """Ended by a thread that could not restore the handler."""
        self._before: Any = None
        self._came: int | None = None

    @contextmanager
    def begun(self) -> Iterator[None]:
        """Context of the patching; handles SIGINT only if called in the main thread (signal.signal)."""
        before = _behind(signal.getsignal(signal.SIGINT))
        if _is_main() and callable(before):
            self._before, self._came, self.held, self.is_over = before, None, True, False
            signal.signal(signal.SIGINT, self._take)
        try:
            with uncollected():  # a collection of all objects takes a third of the time
                yield
        except BaseException:
            self._end()
            raise
        self.held = False
        self._late()

    def _late(self) -> None:
        """A signal that came during the patching reaches the traced code at its first line."""
        from inspector import _native

        if self._came is not None:
            _native.lines_hold(True)

    @contextmanager
    def over(self) -> Iterator[None]:
        """Context of the restoring. Raises KeyboardInterrupt at its end if SIGINT arrived meanwhile."""
        self.held = True
        try:
            yield
        finally:
            self._end()

    def _end(self) -> None:
        if not _is_main():
            self._pass_on()
            return
        from inspector import _native

        _native.lines_hold(None)
        before, self._before = self._before, None
        if before is not None and signal.getsignal(signal.SIGINT) == self._take:
            signal.signal(signal.SIGINT, before)
        if before is not None and self._came is not None:
            before(self._came, None)

    def _pass_on(self) -> None:
        """An end in another thread, which may set no handler: ours stays and passes all to the previous."""
        self.is_over = True
        if self._before is not None and self._came is not None:
            signal.raise_signal(self._came)

    def _take(self, number: int, frame: FrameType | None) -> None:
        from inspector import _native  # not at the top: saved reports are read without the extension

        if not self.is_over and _native.lines_hold(False):
            return
        if not self.is_over and (self.held or (frame is not None and frame.f_code in self.guarded)):
            self._came = number
        elif self._before is not None:
            self._came = None
            self._before(number, frame)


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


def _behind(hears: Any) -> Any:
    """The previous handler, behind handlers of ours that have ended."""
    ours = getattr(hears, "__self__", None)
    return ours._before if isinstance(ours, Interrupts) and ours.is_over else hears
