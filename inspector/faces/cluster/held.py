"""The values that a worker holds, and its actors."""

from __future__ import annotations

from typing import Any


def in_memory(worker: Any) -> dict[Any, Any]:
    """Dask's own dict of the values in memory: spilled ones are not read back, no order is changed."""
    found = getattr(getattr(worker.data, "fast", None), "d", worker.data)
    return found if type(found) is dict else {}


def actors(worker: Any) -> dict[Any, Any]:
    """Key -> the object whose methods its clients call; Dask keeps them beside the values."""
    found = worker.state.actors
    return found if type(found) is dict else {}
