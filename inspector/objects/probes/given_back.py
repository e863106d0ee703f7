"""What memory that allocators keep could be given back, and by which call: tried in a copy of the process."""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

from inspector import _native
from inspector.facts.account import Account, GivenBack

LEAST: Final = 16_000_000
"""Bytes that an allocator may keep without being asked for them."""
TRIAL_MS: Final = 2_000
_GLIBC: Final = "glibc's malloc"
_TRIM: Final = "ctypes.CDLL(None).malloc_trim(0)"


def given_back(account: Account) -> tuple[GivenBack, ...]:
    """The calls, each with what it gave back there; a call that did not end in time is left out."""
    tried = [(name, kept, _native.give_back_try(call, TRIAL_MS)) for name, kept, call in _calls(account)]
    return tuple(GivenBack(name, kept, freed) for name, kept, freed in tried if freed is not None)


def _calls(account: Account) -> Iterator[tuple[str, int, Callable[[], object] | None]]:
    """(as a user types it, bytes that the allocator keeps, the call; None for malloc_trim)."""
    free = next((part for part in account.row("free").parts if part.name == _GLIBC), None)
    if free is not None and free.resident_bytes >= LEAST:
        yield _TRIM, free.resident_bytes, None
    pool, mapped = _arrow(), account.row("mapped").resident_bytes
    if pool is not None:
        kept = mapped - pool.bytes_allocated()
        if kept >= LEAST and pool.backend_name != "system":
            yield "pyarrow.default_memory_pool().release_unused()", kept, pool.release_unused


def _arrow() -> Any:
    """Arrow's pool, where it is loaded."""
    with suppress(Exception):
        return sys.modules["pyarrow"].default_memory_pool()
    return None
