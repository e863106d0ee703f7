"""Futures and tasks of asyncio: their state, in C, is read; `exception()` would silence a lost error."""

from __future__ import annotations

from typing import Any, ClassVar

from inspector.adapters.base import type_attribute
from inspector.adapters.futures_pending import FuturesPending


class AsyncioFutures(FuturesPending):
    """The exact Future and Task of the C module, and those of Python where there is none."""

    library = "asyncio"
    exact = ("futures.Future", "tasks.Task")
    values: ClassVar[dict[str, Any]] = {"PENDING": "pending", "FINISHED": "computed"}

    def self_test(self) -> None:
        """Both keep a state that no loop is needed to read."""
        kinds = tuple(self.types())
        if len(kinds) != 2 or any(type_attribute(kind, "_state") is None for kind in kinds):
            raise ValueError("Future._state is not what it was")

    def wakes(self, x: Any) -> str:
        """An await; a task goes on when its loop runs."""
        return "await"


ADAPTER = AsyncioFutures()
