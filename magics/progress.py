"""Progress bars: shown only for long operations, and removed at the end."""

# SPDX-License-Identifier: MIT
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

Progress = Callable[[int, int], bool]
TraceProgress = Callable[[int, float], None]
"""Called with (records, seconds) of a running trace."""


@contextmanager
def bar(wanted: bool, walks: bool = False) -> Iterator[Progress | None]:
    """A callback that shows a scan's progress; interrupting the kernel raises InspectorError `stopped`.

    `walks`: a chain or a retained size is wanted. During a walk nothing else runs, so the kernel sends no
    output: for a large heap the text is shown before the walk.
    """
    if not wanted and not walks:
        yield None
        return
    drawn = _Bar()
    if walks and sys.getallocatedblocks() > _WALKED_IN_FIRST_S:
        drawn.waits(f"walking about {sys.getallocatedblocks() / 1e6:,.0f} million objects")
    try:
        yield drawn.shows if wanted else None
    except KeyboardInterrupt:
        what = "search of memory" if wanted else "walk over the objects"
        omitted = "--owners" if wanted else "--chain and --retained"
        raise InspectorError(f"the {what} was stopped.", slug="stopped", do=f"omit {omitted}") from None
    finally:
        drawn.clear()


@contextmanager
def of_workers() -> Iterator[Progress]:
    """A callback that shows how many workers answered; an interrupt stops waiting for the others."""
    drawn = _Bar(progress_text.answered)
    try:
        yield drawn.shows
    except KeyboardInterrupt:
        raise InspectorError(
            "waiting for the workers was stopped.",
            slug="stopped",
            why="the kernel was interrupted",
            do="run it again; nothing is armed on any worker",
        ) from None
    finally:
        drawn.clear()


@contextmanager
def of_trace() -> Iterator[TraceProgress]:
    """A callback that shows a trace's progress; the trace calls it from its own thread."""
    drawn = _Bar()

    def show(records: int, seconds: float) -> None:
        drawn.waits(progress_text.traced(records, seconds))

    try:
        yield show
    finally:
        drawn.clear()


class _Bar:
    """Text and `<progress>` under one display id; works without widgets."""

    def __init__(self, words: Callable[[int, int], str] = progress_text.searched) -> None:
        self.words = words
        self.due = time.monotonic() + _FIRST_S
        self.handle: DisplayHandle | None = None

    def shows(self, done: int, whole: int) -> bool:
        """Draw the progress, at most ten times a second; True, so that the operation goes on."""
        if time.monotonic() >= self.due:
            self.due = time.monotonic() + _EVERY_S
            self._draw(done, whole)
        return True

    def waits(self, text: str) -> None:
        """Draw a bar of unknown total."""
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
        """Remove the bar."""
        if self.handle is not None:
            self.handle.update({"text/html": "", "text/plain": ""}, raw=True)
