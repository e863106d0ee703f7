"""The progress of a long question: a bar that appears only when it lasts, and leaves nothing behind."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from IPython.display import DisplayHandle, display

from inspector.errors import InspectorError
from inspector.faces import progress_text

_FIRST_S = 0.5
_EVERY_S = 0.1
_WALKED_IN_FIRST_S = 2_000_000
"""Objects: a walk takes 250 ns each."""

Told = Callable[[int, int], bool]
Heard = Callable[[int, float], None]
"""Of a running trace: records and seconds so far."""


@contextmanager
def bar(wanted: bool, walks: bool = False) -> Iterator[Told | None]:
    """What a scan tells its progress to; an interrupt of the kernel stops the scan with one sentence.

    `walks`: a chain or a retained size is asked for. A walk lets nothing run until it ends, the kernel's
    output neither: of a heap so large that it lasts, it is said before that it walks.
    """
    if not wanted and not walks:
        yield None
        return
    drawn = _Bar()
    if walks and sys.getallocatedblocks() > _WALKED_IN_FIRST_S:
        drawn.waits(f"walks some {sys.getallocatedblocks() / 1e6:,.0f} million objects")
    try:
        yield drawn.told if wanted else None
    except KeyboardInterrupt:
        what = "search of memory" if wanted else "walk over the objects"
        less = "--owners nothing is searched" if wanted else "--chain and --retained nothing is walked"
        raise InspectorError(f"the {what} was stopped.", slug="stopped", do=f"without {less}") from None
    finally:
        drawn.clear()


@contextmanager
def of_workers() -> Iterator[Told]:
    """What a cluster tells its progress to; an interrupt leaves the workers that have not answered alone."""
    drawn = _Bar(progress_text.answered)
    try:
        yield drawn.told
    except KeyboardInterrupt:
        raise InspectorError(
            "the workers were not waited for.",
            slug="stopped",
            why="the kernel was interrupted",
            do="ask again; nothing is armed on any worker",
        ) from None
    finally:
        drawn.clear()


@contextmanager
def of_trace() -> Iterator[Heard]:
    """What a long cell that is traced tells its progress to, from a thread of its own."""
    drawn = _Bar()

    def heard(records: int, seconds: float) -> None:
        drawn.waits(progress_text.traced(records, seconds))

    try:
        yield heard
    finally:
        drawn.clear()


class _Bar:
    """Text and `<progress>` under one display id, so that it reads without widgets too."""

    def __init__(self, words: Callable[[int, int], str] = progress_text.searched) -> None:
        self.words = words
        self.due = time.monotonic() + _FIRST_S
        self.handle: DisplayHandle | None = None

    def told(self, done: int, whole: int) -> bool:
        """Draw how far it is, at most ten times a second; it goes on."""
        if time.monotonic() >= self.due:
            self.due = time.monotonic() + _EVERY_S
            self._draw(done, whole)
        return True

    def waits(self, text: str) -> None:
        """Draw that it goes on, without how far."""
        self._show(text, f"<progress></progress> {text}")

    def _draw(self, done: int, whole: int) -> None:
        text = self.words(done, whole)
        self._show(text, f'<progress value="{done}" max="{whole}"></progress> {text}')

    def _show(self, text: str, page: str) -> None:
        bundle = {"text/html": page, "text/plain": text}
        if self.handle is None:
            self.handle = display(bundle, raw=True, display_id=True)
        else:
            self.handle.update(bundle, raw=True)

    def clear(self) -> None:
        """Empty the place where the bar was."""
        if self.handle is not None:
            self.handle.update({"text/html": "", "text/plain": ""}, raw=True)
