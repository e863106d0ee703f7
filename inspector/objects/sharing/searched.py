"""Whether numbers stand among the elements of a large block: read piece by piece, nothing is brought in."""

# SPDX-License-Identifier: MIT
import sys
from typing import Any, Final

from inspector import _native
from inspector.adapters.base import Elements
from inspector.objects.sharing.values import is_in_memory

MOST_BYTES: Final = 1 << 26
FEW: Final = 8
"""Elements that are looked for, and that must be different ones: each costs a pass over the block."""
_PIECE: Final = 1 << 18
"""Bytes that stay in the processor's cache."""
_WORDS: Final = {2: "u2", 4: "u4", 8: "u8", 16: "V16"}


def missing_from(block: Elements, wanted: set[bytes]) -> set[bytes] | None:
    """Those of the elements that the block has not; None if it cannot be read, or NumPy is not imported."""
    np: Any = sys.modules.get("numpy")
    size, span = block.itemsize_bytes, block.range
    is_dense = span.bytes == block.size * size and size in _WORDS
    if np is None or not is_dense or span.bytes > MOST_BYTES or not is_in_memory(span.start, span.stop):
        return None
    left = {one: np.frombuffer(one, _WORDS[size])[0] for one in wanted}
    for at in range(span.start, span.stop, _PIECE):
        raw = _native.read(at, min(_PIECE, span.stop - at))
        if raw is None:
            return None
        piece = np.frombuffer(raw, _WORDS[size])
        left = {one: number for one, number in left.items() if not (piece == number).any()}
        if not left:
            break
    return set(left)
