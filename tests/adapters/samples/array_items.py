"""Objects that the adapter `array_items` is tried on."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import array
from collections.abc import Iterator
from typing import Any

LIBRARY = "array"


def samples() -> Iterator[Any]:
    """With items and without."""
    yield from (array.array("d", [1.0, 2.0]), array.array("B"))
