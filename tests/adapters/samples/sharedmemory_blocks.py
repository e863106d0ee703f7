"""Objects that the adapter `sharedmemory_blocks` is tried on."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Iterator
from multiprocessing.shared_memory import SharedMemory
from typing import Any

LIBRARY = "multiprocessing.shared_memory"


def samples() -> Iterator[Any]:
    """Open and closed."""
    made = SharedMemory(create=True, size=5000)
    made.unlink()
    yield made
    made.close()
    yield made
