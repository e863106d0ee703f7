"""Objects that the adapter `references` is tried on."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
import weakref
from collections.abc import Iterator
from typing import Any

LIBRARY = ""


def samples() -> Iterator[Any]:
    """Alive and gone, empty and filled."""
    kept = {1}
    yield from (weakref.ref(kept), weakref.ref({2}))
    filled = functools.lru_cache(abs)
    filled(-1)
    yield from (functools.lru_cache(len), filled)
