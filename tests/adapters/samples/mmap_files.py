"""Objects that the adapter `mmap_files` is tried on."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Any

LIBRARY = "mmap"


def samples() -> Iterator[Any]:
    """Open and closed."""
    closed = mmap.mmap(-1, 100)
    closed.close()
    yield from (mmap.mmap(-1, 4096), closed)
