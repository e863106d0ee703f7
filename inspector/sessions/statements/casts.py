"""Whether blocks hold the numbers of others in another type, also where one of the two is in chunks."""

# SPDX-License-Identifier: MIT
from dataclasses import replace
from itertools import accumulate

from inspector.adapters.base import Elements
from inspector.objects.sharing.chosen import cast_of
from inspector.objects.sharing.meetings import Blocks


def is_cast(given: Blocks, made: Blocks) -> bool:
    """Whether a block has the numbers of one given in another type, or of all of them one after the other."""
    own, theirs = ([one for one in some if one.format != "bits"] for some in (made, given))
    if len(own) == 1 and any(cast_of(one, own[0]) for one in theirs):
        return True
    if len(own) == 1 < len(theirs):
        own = _in_parts(own[0], [one.size for one in theirs])
    return len(own) == len(theirs) > 1 and all(map(cast_of, theirs, own))


def _in_parts(block: Elements, sizes: list[int]) -> list[Elements]:
    """A dense block as parts of so many elements; [] where they are not all of it."""
    if sum(sizes) != block.size or block.range.bytes != block.size * block.itemsize_bytes:
        return []
    starts = [block.address + block.itemsize_bytes * at for at in accumulate(sizes[:-1], initial=0)]
    step = (block.itemsize_bytes,)
    return [
        replace(block, address=at, shape=(size,), strides_bytes=step)
        for at, size in zip(starts, sizes, strict=True)
    ]
