"""The second reading: what many further calls leave, without hooks and without a search of memory.

It knows nothing of the ledger: the blocks of the object allocator, the bytes of malloc, and the counts of the
objects that the collector shows, before and after. What grows in both halves of the calls is left by them.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import ctypes
import gc
import sys
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

from inspector import _native
from inspector.facts.leaks import FurtherCalls
from inspector.objects.classes import full_name
from inspector.objects.referents import referents

CALLS: Final = 200
WARM_UP: Final = 20
MOST: Final = 0.9
"""The share of the calls in which it must have grown: a list that all of them fill grows by steps."""


def grown(function: Callable[[], Any], calls: int = CALLS) -> FurtherCalls:
    """What `calls` further calls of `function` left."""
    for _ in range(WARM_UP):
        function()
    _malloc_bytes()  # what its first use makes is no growth
    half = calls // 2
    steps = [_step(function, half) for _ in range(2)]
    blocks, held, counts = zip(*steps, strict=True)
    rose = {kind: min(counts[0][kind], counts[1][kind]) for kind in counts[0].keys() & counts[1].keys()}
    least = half * MOST
    return FurtherCalls(
        calls=2 * half,
        blocks=2 * min(blocks) if min(blocks) >= least else 0,
        bytes=2 * min(held) if min(held) >= least else 0,
        references=tuple((kind, 2 * rise) for kind, rise in sorted(rose.items()) if rise >= least),
    )


def _step(function: Callable[[], Any], calls: int) -> tuple[int, int, dict[str, int]]:
    """Blocks and bytes more after the calls, and the largest rise of a count for each type."""
    before, marks = _counts(), array("q", (0, 0, 0, 0))
    _mark(marks, 0)
    for _ in range(calls):
        function()
    _mark(marks, 2)
    return marks[3] - marks[1], marks[2] - marks[0], _rises(*before)


def _mark(marks: array[int], at: int) -> None:
    """Write the bytes of malloc and the blocks in use: as words, since a number would be a block itself."""
    gc.collect()
    marks[at] = _malloc_bytes()
    marks[at + 1] = sys.getallocatedblocks()


def _live() -> Iterator[Any]:
    """The objects of the collector, and what these refer to; some more than once."""
    for holder in _native.tracked_objects():
        yield holder
        yield from {id(one): one for one in referents([holder])}.values()  # one reference of ours each


def _counts() -> tuple[array[int], array[int]]:
    """Sorted addresses of the live objects, and their counts: plain words, which hold no reference."""
    known = sorted({id(one): sys.getrefcount(one) for one in _live()}.items())
    return array("Q", (address for address, _ in known)), array("q", (count for _, count in known))


def _rises(addresses: array[int], counts: array[int]) -> dict[str, int]:
    """Type -> how much more references one object of it has, at most."""
    rises: dict[str, int] = {}
    for one in _live():
        at = bisect_left(addresses, id(one))
        if (
            at < len(addresses)
            and addresses[at] == id(one)
            and not _is_shared(one)
            and sys.getrefcount(one) > counts[at]
        ):
            name = full_name(type(one))
            rises[name] = max(rises.get(name, 0), sys.getrefcount(one) - counts[at])
    return rises


def _is_shared(one: Any) -> bool:
    """Whether all code uses the object, so that its count tells nothing: None, a truth, a small number."""
    return one is None or type(one) is bool or (type(one) is int and abs(one) <= 256)


_COUNTS: Final = (
    *("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks"),
    *("uordblks", "fordblks", "keepcost"),
)


class _Malloc(ctypes.Structure):
    """mallinfo2(3)."""

    _fields_ = tuple((name, ctypes.c_size_t) for name in _COUNTS)


@cache
def _mallinfo() -> Callable[[], Any] | None:
    """The function of glibc (2.33 and later), or None."""
    found = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if found is not None:
        found.restype = _Malloc
    return found


def _malloc_bytes() -> int:
    """Bytes that malloc has given out; 0 where it does not tell."""
    asked = _mallinfo()
    told = asked() if asked is not None else None
    return int(told.uordblks + told.hblkhd) if told is not None else 0
