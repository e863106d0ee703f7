"""Tells when an import is over: modules that come while a trace runs are hooked as they come."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

_bootstrap: Any = vars(importlib)["_bootstrap"]


class ImportWatch:
    """Calls `done` after each outermost import of something new; CPython looks the function up by name."""

    def __init__(self, done: Callable[[], None]) -> None:
        self._done = done
        self._original: Any = None
        self._depth = 0

    def begin(self) -> None:
        """Stand before importlib's own function."""
        self._original = _bootstrap._find_and_load
        _bootstrap._find_and_load = self._find_and_load

    def end(self) -> None:
        """Put it back, unless somebody else stands before it now."""
        if _bootstrap._find_and_load == self._find_and_load:
            _bootstrap._find_and_load = self._original

    def _find_and_load(self, name: str, import_: Any) -> Any:
        self._depth += 1
        try:
            return self._original(name, import_)
        finally:
            if self._depth == 1:
                self._done()  # what this imports itself belongs to the same import
            self._depth -= 1
