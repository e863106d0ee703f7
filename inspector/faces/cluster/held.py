"""The values that a worker holds, and its actors."""

# SPDX-License-Identifier: MIT
from typing import Any


def in_memory(worker: Any) -> dict[Any, Any]:
    """Dask's own dict of the values in memory; reads no spilled value and changes no order (borrowed)."""
    found = getattr(getattr(worker.data, "fast", None), "d", worker.data)
    return found if type(found) is dict else {}


def actors(worker: Any) -> dict[Any, Any]:
    """Key -> actor object; Dask keeps actors apart from the values."""
    found = worker.state.actors
    return found if type(found) is dict else {}
