"""Objects that the adapter `futures_pending` is tried on."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

LIBRARY = "concurrent.futures"


def samples() -> Iterator[Any]:
    """Pending, running, finished, cancelled."""
    made: list[Future[int]] = [Future() for _ in range(4)]
    made[1].set_running_or_notify_cancel()
    made[2].set_result(5)
    made[3].cancel()
    yield from made
