"""Import what a first card and a first view need, while the kernel waits for its next cell.

Each piece takes some tens of milliseconds of the kernel's event loop. It shows nothing, sets no name, and
imports no library that the user has not imported, except anywidget where a notebook may draw views.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import asyncio
import contextlib
import importlib
import sys
from collections.abc import Callable
from typing import Any, Final
from weakref import WeakKeyDictionary

from IPython.core.interactiveshell import InteractiveShell

AFTER_S: Final = 0.1
"""Seconds from the end of a cell, and between two pieces."""

_shells: WeakKeyDictionary[InteractiveShell, Ahead] = WeakKeyDictionary()


class Ahead:
    """The pieces still to do in one shell; the end of a cell starts the next."""

    def __init__(self) -> None:
        self.pieces: dict[str, Callable[[], object]] = {
            "": lambda: _card(0),
            "numpy": lambda: _card(sys.modules["numpy"].empty(2, "f8")),
            "ipykernel": lambda: importlib.import_module("inspector.magics.widgets.base"),
        }
        """Module that must be imported ("": none) -> what to do then, once."""
        self.due: Any = None

    def cell_is_over(self, _: object = None) -> None:
        """Schedule the next piece; does nothing where no event loop runs (plain IPython)."""
        with contextlib.suppress(RuntimeError):
            loop = asyncio.get_running_loop()
            self.leave()
            self.due = loop.call_later(AFTER_S, self._next)

    def _next(self) -> None:
        ready = [name for name in self.pieces if not name or name in sys.modules]
        if not ready:
            return
        with contextlib.suppress(Exception):  # a failure is reported when the user needs the piece
            self.pieces.pop(ready[0])()
        if len(ready) > 1:
            self.cell_is_over()

    def leave(self) -> None:
        """Cancel the scheduled piece."""
        if self.due is not None:
            self.due.cancel()
            self.due = None


def _card(sample: Any) -> None:
    from inspector import api

    api.inspect(sample)._repr_mimebundle_()


def add(shell: InteractiveShell) -> None:
    """Start after this cell; only in a kernel."""
    remove(shell)
    if hasattr(shell, "kernel"):
        ahead = _shells[shell] = Ahead()
        shell.events.register("post_run_cell", ahead.cell_is_over)


def remove(shell: InteractiveShell) -> None:
    """Stop."""
    ahead = _shells.pop(shell, None)
    if ahead is not None:
        ahead.leave()
        shell.events.unregister("post_run_cell", ahead.cell_is_over)
