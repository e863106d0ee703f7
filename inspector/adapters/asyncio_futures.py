"""asyncio futures and tasks: reads their state in C; `exception()` would silence a lost error."""

# SPDX-License-Identifier: MIT
from typing import Any, ClassVar

from inspector.adapters.base import type_attribute
from inspector.adapters.futures_pending import FuturesPending


class AsyncioFutures(FuturesPending):
    """The exact Future and Task of the C module, or the Python ones if there is no C module."""

    library = "asyncio"
    exact = ("futures.Future", "tasks.Task")
    values: ClassVar[dict[str, Any]] = {"PENDING": "pending", "FINISHED": "computed"}

    def self_test(self) -> None:
        """Both keep a state that can be read without a loop."""
        kinds = tuple(self.types())
        if len(kinds) != 2 or any(type_attribute(kind, "_state") is None for kind in kinds):
            raise ValueError("Future._state is not what it was")

    def wakes(self, x: Any) -> str:
        """An await; a task continues when its loop runs."""
        return "await"


ADAPTER = AsyncioFutures()
