"""The progress of a long question: a bar that appears only when it lasts, and leaves nothing behind."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from IPython.display import HTML, DisplayHandle, display

from inspector.errors import InspectorError

_FIRST_S = 0.5
_EVERY_S = 0.1

Told = Callable[[int, int], bool]


@contextmanager
def bar(wanted: bool) -> Iterator[Told | None]:
    """What a scan tells its progress to; an interrupt of the kernel stops the scan with one sentence."""
    if not wanted:
        yield None
        return
    drawn = _Bar()
    try:
        yield drawn.told
    except KeyboardInterrupt:
        raise InspectorError(
            "the search of memory was stopped.", slug="stopped", do="without --owners nothing is searched"
        ) from None
    finally:
        drawn.clear()


@contextmanager
def of_workers() -> Iterator[Told]:
    """What a cluster tells its progress to; an interrupt leaves the workers that have not answered alone."""
    drawn = _Bar(_workers)
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


def _memory(done: int, whole: int) -> str:
    return f"searched {done / 1e6:,.0f} of {whole / 1e6:,.0f} MB"


def _workers(done: int, whole: int) -> str:
    return f"{done:,} of {whole:,} workers answered"


class _Bar:
    """Text and `<progress>` under one display id, so that it reads without widgets too."""

    def __init__(self, words: Callable[[int, int], str] = _memory) -> None:
        self.words = words
        self.due = time.monotonic() + _FIRST_S
        self.handle: DisplayHandle | None = None

    def told(self, done: int, whole: int) -> bool:
        """Draw how far it is, at most ten times a second; it goes on."""
        if time.monotonic() >= self.due:
            self.due = time.monotonic() + _EVERY_S
            self._draw(done, whole)
        return True

    def _draw(self, done: int, whole: int) -> None:
        text = self.words(done, whole)
        page = f'<progress value="{done}" max="{whole}"></progress> {text}'
        bundle = {"text/html": page, "text/plain": text}
        if self.handle is None:
            self.handle = display(bundle, raw=True, display_id=True)
        else:
            self.handle.update(bundle, raw=True)

    def clear(self) -> None:
        """Empty the place where the bar was."""
        if self.handle is not None:
            self.handle.update(HTML(""))
