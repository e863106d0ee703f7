"""Holders that the collector does not track: tuples and dicts of simple values (pycore_gc.h), ndarrays.

A tuple or an ndarray is found by its header below the word; a dict by the word that points to its keys.
"""

# SPDX-License-Identifier: MIT
import struct
from bisect import bisect_right
from collections.abc import Callable
from typing import Final

from inspector.debugger.attach import object_layout as at
from inspector.debugger.attach.naming import ENTRIES, INSIDE, Holding
from inspector.debugger.attach.ndarrays import BASE
from inspector.debugger.attach.objects import Objects
from inspector.debugger.memory.remote_memory import Unreadable

_TUPLE_BYTES: Final = 8192
_KEYS_BYTES: Final = 1 << 16
_WORDS_MAX: Final = 64
Words = Callable[[list[tuple[int, int]]], list[tuple[int, int]]]


def untracked(objects: Objects, search: Words, words: list[int]) -> list[Holding]:
    """The untracked tuples, ndarrays and dicts that hold some of these words."""
    words = words[:_WORDS_MAX]
    above = ((word, _array_of(objects, word) or _tuple_of(objects, word)) for word in words)
    found = [Holding(word, holder, INSIDE) for word, holder in above if holder]
    left = [word for word in words if word not in {one.word for one in found}]
    return found + (_dicts(objects, search, left) if left else [])


def _array_of(objects: Objects, word: int) -> int:
    """The ndarray whose base is at the word; 0 where there is none."""
    holder = word - BASE
    try:
        references, kind = struct.unpack("<qQ", objects.memory.read(holder, 16))
    except Unreadable:
        return 0
    is_live = 0 < references < 1 << 40
    return holder if is_live and objects.values.type_name_of(kind) == "numpy.ndarray" else 0


def _tuple_of(objects: Objects, word: int) -> int:
    """The tuple that has the word among its items; 0 where there is none."""
    low = max(word - _TUPLE_BYTES, word & ~0xFFFFF)  # a pool does not cross an arena's boundary
    try:
        raw = objects.memory.read(low, word - low)
    except Unreadable:
        return 0
    first = objects.where.tuple_items
    for start in range(len(raw) - first, -1, -8):
        references, kind, size = struct.unpack_from("<qQQ", raw, start)
        if 0 < references < 1 << 40 and start + first + 8 * size > len(raw) and size < 1 << 20:
            at_tuple = objects.values.type_name_of(kind) == "tuple"
            if at_tuple:
                return low + start
    return 0


def _dicts(objects: Objects, search: Words, words: list[int]) -> list[Holding]:
    needles: list[tuple[int, int]] = []
    for word in words:
        start = word - _KEYS_BYTES
        if needles and start < needles[-1][1]:
            start = needles[-1][1]
        needles.append((start, word))
    found: dict[int, Holding] = {}
    for address, keys in search(needles):
        try:
            _entry(objects, address - at.DICT_KEYS, keys, words, found)
        except Unreadable:
            continue
    return list(found.values())


def _entry(objects: Objects, holder: int, keys: int, words: list[int], found: dict[int, Holding]) -> None:
    """Add the words that are in the keys of what may be a dict at `holder`."""
    references, kind = struct.unpack("<qQ", objects.memory.read(holder, 16))
    if references <= 0 or objects.values.type_name_of(kind) != "dict":
        return
    head = objects.memory.read(keys, at.KEYS_HEAD)
    size = struct.unpack_from("<Q", head, 24)[0]
    if head[8] > 40 or head[9] > head[8] + 3 or head[10] > 2 or size > 1 << head[8]:
        return  # freed and reused
    start = keys + at.KEYS_HEAD + (1 << head[9])
    stop = start + size * (24 if head[10] == 0 else 16)
    for word in words[bisect_right(words, start - 1) : bisect_right(words, stop - 1)]:
        found.setdefault(word, Holding(word, holder, ENTRIES))
