"""The memory of an object that can be watched: its buffer, its refcount, a stored attribute."""

# SPDX-License-Identifier: MIT
import os
from typing import Any, Final, NamedTuple

from inspector.adapters.registry import adapter_of
from inspector.debugger.attach.objects import Objects
from inspector.debugger.attach.runtime import runtime
from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable
from inspector.errors import InspectorError
from inspector.objects.classes import type_name

BYTES_MAX: Final = 256 << 20
"""At most so many bytes are watched; a copy is kept, to detect unrecorded writes."""
_LETTERS: Final = {"f8": "d", "f4": "f", "i8": "q", "i4": "i", "i2": "h", "i1": "b", "u8": "Q", "u4": "I"}
"""Kind and bytes of an element -> struct's format letter."""


class Watched(NamedTuple):
    """A range of bytes, and the format of its elements."""

    name: str
    address: int
    bytes: int
    letter: str
    """struct's format letter of an element; "" for hex."""


def watched(x: Any, part: str) -> Watched:
    """The range to watch. Raises InspectorError: nothing-to-watch, too-wide, bad-option."""
    if part == "refcount":
        return Watched("refcount", id(x), 8, "q") if _is_counted() else Watched("refcount", id(x), 4, "I")
    if part.startswith("."):
        return Watched(part, _slot(x, part[1:]), 8, "")
    if part != "bytes":
        raise InspectorError(
            f"not a part of an object: {part[:40]!r}.", slug="bad-option", do="bytes, refcount or .attribute"
        )
    adapter = adapter_of(type(x))
    spans = adapter.spans(x) if adapter is not None else ()
    if len(spans) != 1:
        raise InspectorError(
            f"a {type_name(type(x))} has no single range of bytes to watch.",
            slug="nothing-to-watch",
            why="only arrays, tensors, buffers and their elements have bytes to watch",
            do="watch an element, x[3:4], or part='refcount' or part='.attribute'",
        )
    size = spans[0].stop - spans[0].start
    if not 0 < size <= BYTES_MAX:
        raise InspectorError(
            f"{size:,} bytes cannot be watched.",
            slug="too-wide",
            why=f"a copy of the watched bytes is kept, {BYTES_MAX >> 20:,} MiB at most",
            do="watch a part, x[:1000], or an element, x[3:4]",
        )
    letter = _LETTERS.get(getattr(getattr(x, "dtype", None), "str", "")[1:], "")
    return Watched("bytes", spans[0].start, size, letter)


def _is_counted() -> bool:
    """Whether the refcount is the whole word (3.11); from 3.12 on it is the low half."""
    import sys

    return sys.version_info < (3, 12)


def _slot(x: Any, name: str) -> int:
    """The slot of an attribute: a __slots__ member, an inline value, or an entry of the dict."""
    memory = RemoteMemory(os.getpid())
    try:
        found = runtime(memory)
        objects = Objects(memory, found.frames, found.where)
        for said, _, slot in objects.attributes(id(x)):
            if said == name:
                return slot
    except Unreadable:
        pass
    finally:
        memory.close()
    raise InspectorError(
        f"a {type_name(type(x))} stores no attribute {name[:40]!r}.",
        slug="nothing-to-watch",
        why="an attribute that a property computes is not stored",
        do="watch the attributes that it is computed from",
    )
