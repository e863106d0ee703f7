"""Objects that the adapter `pybind11_instances` is tried on."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bindings
import pybind11  # noqa: F401 (so that a room without it skips)

LIBRARY = ""
made = bindings.made_by_pybind11()


def samples() -> Iterator[Any]:
    """Owned, shared, keeping, borrowed, a subclass."""
    heir = type("Heir", (made.Box,), {})
    yield from (made.Box(1), made.Shared(), made.Keeper([]), made.the_box(), heir(2))
