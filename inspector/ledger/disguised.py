"""Owners whose pointer the search for owners does not see: into the object, with a tag in its upper bits, or
inverted. Intrusive lists link fields of their objects; lock-free queues and NaN-boxing use the upper 16 bits.

Such a word may be a remain as well: it is a doubt, and no owner.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from inspector import _native
from inspector.ledger.owners import OWN_CODE
from inspector.objects.classes import HAVE_GC, type_flags

WORDS_MAX: Final = 1 << 14
_BITS: Final = 48
"""Of an address of a program, on x86-64 and aarch64."""
_ADDRESS: Final = (1 << _BITS) - 1
_OF_FREE_LIST: Final = 16
"""Bytes at the start of a block that linked it, while it was free, to the block that the object got later."""
_WORD: Final = 8
_MANAGED: Final = 1 << 3 | 1 << 4
"""Py_TPFLAGS_MANAGED_WEAKREF, Py_TPFLAGS_MANAGED_DICT (Include/object.h)."""
_BYTES: Final = type.__dict__["__basicsize__"].__get__


def disguised(subjects: Sequence[_native.Subject]) -> Counter[int]:
    """Address -> how many words of memory may be such a pointer to the object."""
    if not subjects:
        return Counter()
    python = _native.image(id(int))
    ends = {one.address: one.address + _bytes(type(one.get()), python and python[0]) for one in subjects}
    needles = list(ends.items())
    needles += [(_ADDRESS ^ (start + _WORD - 1), (_ADDRESS ^ start) + 1) for start in ends]
    found = _native.scan_words(
        sorted(needles), _native.ledger_rooms(), WORDS_MAX, ignored=~_ADDRESS & (1 << 64) - 1
    )[0]
    starts = sorted(ends)
    begins = {one.address: one.address - _before(type(one.get())) for one in subjects}
    meant = [(place, _meant(value, starts), value) for place, value in found]
    words = [word for word in meant if _is_other(*word, begins, ends)]
    blocks = _native.blocks_in_use([place for place, *_ in words], OWN_CODE)
    return Counter(
        address
        for (place, address, value), block in zip(words, blocks, strict=True)
        if block is not None and (place - block[0] >= _OF_FREE_LIST or _is_inside(value, address))
    )


def _is_inside(value: int, address: int) -> bool:
    """Whether it points into the object: no free list leads there."""
    return value >> _BITS == 0 and value != address


def _is_other(place: int, address: int, value: int, begins: dict[int, int], ends: dict[int, int]) -> bool:
    """Whether the word is not in the object itself, and no plain pointer to it: that is an owner already."""
    return not begins[address] <= place < ends[address] and not 0 <= value - address < _WORD


def _meant(value: int, starts: list[int]) -> int:
    """The object that a word leads to, of those that begin at `starts`."""
    for one in (value & _ADDRESS, ~value & _ADDRESS):
        at = bisect_right(starts, one) - 1
        if at >= 0 and one - starts[at] < 1 << 20:
            return starts[at]
    return starts[0]


def _bytes(kind: type, python: Any) -> int:
    """Bytes of its struct; a word for CPython's own static types, whose fields no C code links."""
    image = _native.image(id(kind))
    return max(_WORD, int(_BYTES(kind))) if image is None or image[0] != python else _WORD


def _before(kind: type) -> int:
    """Bytes of its block before an object: the gc's head, the pointers to its dict and weak references.

    Others have none (Include/internal/pycore_object.h): the object before may link to this one.
    """
    flags = type_flags(kind)
    return 4 * _WORD if flags & _MANAGED else 2 * _WORD if flags & HAVE_GC else 0
