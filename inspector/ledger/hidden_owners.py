"""Owners that tp_traverse does not visit: fields that a live object's type omits, the callback of a weak
reference, which receives the reference itself when its object dies, static data that points to the characters
of a text, and the library that a static object lies in: it has the reference that the object began with.

Cython's functions hold their annotations in such a field. The gc cannot follow these fields, and the search
for owners does not; but before an object is called leaked, such a field counts as a possible owner.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import sys
import types
import weakref
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final

from inspector import _native
from inspector.objects.classes import type_bases, type_name
from inspector.objects.referents import referents

WORDS_MAX: Final = 1 << 14
_BYTES: Final = type.__dict__["__basicsize__"].__get__
_WEAK_LIST_AT: Final = type.__dict__["__weakrefoffset__"].__get__
_WEAK: Final = (weakref.ref, weakref.ProxyType, weakref.CallableProxyType)
_WEAK_BYTES: Final = weakref.ref.__basicsize__
_REFERENT: Final = weakref.ref.__call__
_CALLBACK: Final = weakref.ref.__dict__["__callback__"].__get__
_BY_CALLBACK: Final = "its callback, once its object dies"
"""pybind11 learns of an object's death by a weak reference without an owner, which its callback releases."""
_ITSELF: Final = "the library it lies in"
_BY_THREAD: Final = "the thread's state, by PyThreadState_GetDict"
_WORD: Final = 8
_TEXT_HEAD: Final = sys.getsizeof("") - 1
"""Bytes of an ASCII text before its characters."""
_TELLING: Final = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType, set, frozenset)
"""They report all that they own; other words are remains of the block's earlier use, or hashes: an int's is
its value, as the id of an object."""


def hidden_owners(subjects: Sequence[_native.Subject]) -> dict[int, tuple[str, ...]]:
    """Address -> types of the live gc objects that hold it in an unreported field; or what else does."""
    if not subjects:
        return {}
    texts = {at: subject.address for subject in subjects if (at := _characters(subject))}
    needles = sorted((at, at + 1) for at in (*texts, *(subject.address for subject in subjects)))
    words = sorted(_native.scan_words(needles, _native.ledger_rooms(), WORDS_MAX)[0])
    found = {subject.address: [_BY_CALLBACK] for subject in subjects if _waits(subject)}
    found.update({one.address: [_ITSELF] for one in subjects if _native.image(one.address) is not None})
    if any(type(subject.get()) is dict for subject in subjects):
        found.setdefault(_dict_of_thread(), []).append(_BY_THREAD)
    for place, value in words:
        if value in texts and _native.image(place) is not None:
            found.setdefault(texts[value], []).append("static data, which points to its characters")
    words = [word for word in words if word[1] not in texts]
    fields: dict[tuple[int, int], list[str]] = defaultdict(list)
    reported: dict[tuple[int, int], int] = {}
    for holder, offset, address in _within(words):
        if not _native.exactly(holder, *_TELLING) and not _is_weak(holder, offset):
            fields[id(holder), address].append(f"<{type_name(type(holder))}> +{offset:#x}")
            reported[id(holder), address] = _reports(holder, address)
    for (holding, address), some in fields.items():
        found.setdefault(address, []).extend(some[reported[holding, address] :])
    return {address: tuple(some) for address, some in found.items() if some}


def _dict_of_thread() -> int:
    """Address of the dict that this thread keeps for C code; the repr of a list makes one."""
    import ctypes

    ask = ctypes.PYFUNCTYPE(ctypes.c_void_p)(("PyThreadState_GetDict", ctypes.pythonapi))
    return ask() or 0


def _characters(subject: _native.Subject) -> int:
    """Address of the UTF-8 that C code has read of a text; 0: it did not, or it is no text."""
    text = subject.get()
    if type(text) is not str or not text:
        return 0
    if text.isascii():
        return subject.address + _TEXT_HEAD
    word = _native.read(subject.address + _TEXT_HEAD + _WORD, _WORD)  # after its length
    return int.from_bytes(word or b"", sys.byteorder)


def _waits(subject: _native.Subject) -> bool:
    """Whether it is a weak reference whose callback has not run yet."""
    one = subject.get()
    is_weak = any(base is weakref.ref for base in type_bases(type(one)))
    return is_weak and _CALLBACK(one) is not None and _REFERENT(one) is not None


def _within(words: list[tuple[int, int]]) -> Iterator[tuple[Any, int, int]]:
    """The words, in order, inside the struct of a live gc object: (object, offset, value).

    Only the nearest object before a word counts: a type may report more bytes than it has.
    """
    holders = _native.tracked_before([place for place, _ in words])
    for (place, address), holder in zip(words, holders, strict=True):
        if holder is not None and place < id(holder) + int(_BYTES(type(holder))):
            yield holder, place - id(holder), address


def _is_weak(holder: Any, offset: int) -> bool:
    """Whether the field never owns: in a weak reference all but its callback, which it reports
    (Include/cpython/weakrefobject.h); in any object the head of the list of its weak references.
    """
    kind = type(holder)
    if offset == _WEAK_LIST_AT(kind):
        return True
    return any(base is weak for base in type_bases(kind) for weak in _WEAK) and offset < _WEAK_BYTES


def _reports(holder: Any, address: int) -> int:
    """How many of its references tp_traverse visits: a type may visit one of two fields."""
    return sum(id(x) == address for x in referents((holder,)))
