"""Whether integers that all stand among others prove anything: each would, where the others leave none out.

Ages from 18 to 90 stand among places from 0 to 500, whatever they were made of.
"""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Callable
from typing import Any, Final

from inspector import _native
from inspector.adapters.base import Elements
from inspector.adapters.formats import letter
from inspector.objects.sharing.meetings import Blocks

_INTEGERS: Final = frozenset("hHiIlLqQnN")
SAMPLED: Final = 24
"""Elements that are read of a block."""
NEIGHBOURS: Final = 8
MANY: Final = 0.8
"""Share of those that must differ from each other where the others are dense."""


def is_proof(
    block: Elements, others: Blocks, found: set[bytes], missing: Callable[[set[bytes]], int]
) -> bool:
    """Whether elements `found` among others are theirs. Of integers whose neighbours are there as well: where
    they are many different ones, and fewer than the others, or all of the others in another order, once or
    several times.

    `missing`: how many of some elements the others have not.
    """
    if letter(block.typestr) not in _INTEGERS:
        return True
    neighbours = {*sorted({_next(one) for one in found} - found)[:NEIGHBOURS]}
    if not neighbours or 2 * missing(neighbours) > len(neighbours):
        return True
    if whole := [one for one in others if one.size and block.size % one.size == 0]:
        own = _summed(block, 1)
        return own is not None and own in (_summed(one, block.size // one.size) for one in whole)
    is_part = block.size < max((one.size for one in others), default=0)
    return is_part and len(found) >= MANY * min(SAMPLED, block.size)


def _next(number: bytes) -> bytes:
    size = len(number)
    return ((int.from_bytes(number, sys.byteorder) + 1) % (1 << 8 * size)).to_bytes(size, sys.byteorder)


def _summed(block: Elements, times: int) -> tuple[int, int] | None:
    """(sum, exclusive or) of all elements so many times: the same in any order; None where they cannot be
    read."""
    np: Any = sys.modules.get("numpy")
    span, size = block.range, block.itemsize_bytes
    raw = _native.read(span.start, span.bytes) if np is not None and span.bytes == block.size * size else None
    if raw is None:
        return None
    numbers = np.frombuffer(raw, f"u{size}")
    total = int(numbers.sum(dtype="u8")) * times % (1 << 64)
    return total, int(np.bitwise_xor.reduce(numbers)) if times % 2 else 0
