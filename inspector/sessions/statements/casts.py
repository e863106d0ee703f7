"""Whether blocks hold the elements of others: as they are, as channels, in another type, in chunks."""

# SPDX-License-Identifier: MIT
import struct
from dataclasses import replace
from itertools import accumulate
from typing import Final

from inspector.adapters.base import Elements
from inspector.adapters.formats import format_name, letter
from inspector.facts.unknown import Unknown
from inspector.objects.sharing.chosen import cast_of
from inspector.objects.sharing.meetings import Blocks
from inspector.objects.sharing.values import values as compared

COMPARED_WHOLE: Final = 1 << 20
"""Bytes of a block whose elements are all compared."""
CHANNELS: Final = 4
"""Most channels of an image."""
_LETTERS: Final = {format_name(one, struct.calcsize(one)): one for one in "bhiqBHIQefd"}
"""Name of a number's format -> the struct module's letter."""


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


def like_channels(block: Elements, others: Blocks) -> bool | None:
    """As `like_one_of`, of an image: each of its channels, or the one that was taken out, is another's."""
    mine, theirs = _channels(block) or (block,), tuple(one for other in others for one in _channels(other))
    if len(mine) == 1 and not theirs:
        return False
    said = {like_one_of(one, (*theirs, *others)) for one in mine}
    return False if False in said else None not in said or None


def _channels(block: Elements) -> Blocks:
    """An image with several numbers a pixel as one block for each; () of anything else."""
    if len(block.shape) != 3 or not 1 < block.shape[2] <= CHANNELS:
        return ()
    first = replace(block, shape=block.shape[:2], strides_bytes=block.strides_bytes[:2])
    step = block.strides_bytes[2]
    return tuple(replace(first, address=block.address + n * step) for n in range(block.shape[2]))


def in_fields(blocks: Blocks) -> Blocks:
    """The blocks; of elements with fields of numbers one for each field."""
    return tuple(one for block in blocks for one in _fields(block))


def _fields(block: Elements) -> Blocks:
    found = (
        replace(
            block, address=block.address + one.offset_bytes, typestr=_LETTERS[one.format], format=one.format,
            itemsize_bytes=one.size_bytes, members=(), numeric=True,
        )
        for one in block.members if one.format in _LETTERS
    )  # fmt: skip
    return tuple(found) or (block,)


def like_one_of(block: Elements, others: Blocks) -> bool | None:
    """Whether a block has the elements of another one: True, None by sample, False.

    Elements that are all the same prove nothing.
    """
    kind = letter(block.typestr)
    for other in (one for one in others if one.size == block.size and kind and letter(one.typestr) == kind):
        found = compared(other, block, (_no_text, _no_text), shown=False, whole_bytes=COMPARED_WHOLE)
        if not isinstance(found, Unknown) and found.equal and found.varied:
            return True if found.compared == found.total else None
    return False


def _no_text(block: Elements, raw: bytes) -> str:
    return ""
