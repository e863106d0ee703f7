"""What a first card and a first view need is imported while the kernel waits for its next cell.

Each piece takes some tens of milliseconds, between two turns of the kernel's loop; nothing is shown, no name
is made, no library is imported that the user has not imported, but anywidget where a notebook may draw views.
"""

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
"""From the end of a cell, and from piece to piece."""

_shells: WeakKeyDictionary[InteractiveShell, Ahead] = WeakKeyDictionary()


class Ahead:
    """The pieces that one shell still wants; a cell's end starts the next."""

    def __init__(self) -> None:
        self.pieces: dict[str, Callable[[], object]] = {
            "": lambda: _card(0),
            "numpy": lambda: _card(sys.modules["numpy"].empty(2, "f8")),
            "ipykernel": lambda: importlib.import_module("inspector.magics.widgets.base"),
        }
        """Module that must be there -> what is done then, once."""
        self.due: Any = None

    def cell_is_over(self, _: object = None) -> None:
        """Begin, when the kernel has nothing to do; where no loop runs (plain IPython), nothing is done."""
        with contextlib.suppress(RuntimeError):
            loop = asyncio.get_running_loop()
            self.leave()
            self.due = loop.call_later(AFTER_S, self._next)

    def _next(self) -> None:
        ready = [name for name in self.pieces if not name or name in sys.modules]
        if not ready:
            return
        with contextlib.suppress(Exception):  # what does not work out here is told when it is asked for
            self.pieces.pop(ready[0])()
        if len(ready) > 1:
            self.cell_is_over()

    def leave(self) -> None:
        """Forget what is due."""
        if self.due is not None:
            self.due.cancel()
            self.due = None


def _card(sample: Any) -> None:
    """Draw a card of an object of ours, and drop it."""
    from inspector import api

    api.inspect(sample)._repr_mimebundle_()


def add(shell: InteractiveShell) -> None:
    """In a kernel, from the end of this cell on."""
    remove(shell)
    if hasattr(shell, "kernel"):
        ahead = _shells[shell] = Ahead()
        shell.events.register("post_run_cell", ahead.cell_is_over)


def remove(shell: InteractiveShell) -> None:
    """No more of it."""
    ahead = _shells.pop(shell, None)
    if ahead is not None:
        ahead.leave()
        shell.events.unregister("post_run_cell", ahead.cell_is_over)
