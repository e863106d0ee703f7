"""Which statement of a function changed what the statement that called it shows as changed."""

# SPDX-License-Identifier: MIT
from collections import deque
from typing import Final

MOST: Final = 64
"""Changes that are kept."""


class Changes:
    """Changes in place that functions of the user's made."""

    def __init__(self) -> None:
        self._written: deque[tuple[int, int, str]] = deque(maxlen=MOST)
        """(functions entered by then, address, "f in line 3")."""

    def by(self, start: int, since: int, now: int, place: str) -> str:
        """The first statement that changed these bytes after `since` functions were entered; a change that
        no other made is kept with its own place, for the statements that called its function."""
        found = next((by for calls, at, by in self._written if at == start and calls > since), "")
        if place and not found:
            self._written.append((now, start, place))
        return found
