"""Objects that the adapter `generators` is tried on."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

LIBRARY = ""


def counted() -> Iterator[int]:
    yield from (1, 2)


async def given() -> AsyncIterator[int]:
    yield 1


def samples() -> Iterator[Any]:
    """Fresh, suspended, finished."""
    yield from (counted(), given())
    started, finished = counted(), counted()
    next(started)
    yield started
    finished.close()  # type: ignore[attr-defined]
    yield finished
