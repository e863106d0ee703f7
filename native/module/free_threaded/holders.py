"""Who holds an object on a free-threaded CPython: namespaces, what those name, what the collector tracks.

Other threads run meanwhile. A namespace is copied as a whole; what an object refers to is asked of the
collector, which stops them for it. So each row was true at a moment, and what came later is missing.
"""

# SPDX-License-Identifier: MIT
import gc
import inspect
import struct
import sys
from collections.abc import Iterator
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, ModuleType
from typing import Any

from inspector._free_threaded import read

from inspector._native import Subject, attribute_of, locals_owning, own_dict

_HEAD = object.__basicsize__
_OURS = (FrameType, Subject, CodeType)
_UNTRACKED = (tuple, dict, frozenset)
_ENDS = (ModuleType, FunctionType, BuiltinFunctionType, CodeType, FrameType, Subject)
_ATOMS = (int, float, complex, bool, str, bytes, type(None))


def quick_referrers(
    subject: Subject, namespaces: tuple[dict[Any, Any], ...], layouts: object, own: str, budget: int
) -> tuple[list[Any], list[Any], bool]:
    """As in the extension, for namespaces, what they name directly, and this thread's variables."""
    x = subject.get()
    rows, known, left = [], [], budget
    for namespace in namespaces:
        for key, value in namespace.copy().items():
            left -= 1
            if value is x:
                rows.append(_row(namespace, ("value", 0, key)))
            elif left > 0 and (places := _places_of_named(value, x)):
                left -= len(places)
                holder = Subject(value)
                known.append((holder, Subject(namespace), Subject(key), None))
                rows += [_row(value, place) for place in places]
    return [*rows, *_in_frames(x, own)], known, left > 0


def tracked_referrers(subject: Subject) -> list[Any]:
    """Rows of the containers that refer to the object, of those that the collector tracks or reaches."""
    x = subject.get()  # of no inner function: its cell would be a holder
    found = [one for one in gc.get_referrers(x) if not any(type(one) is end for end in _OURS)]
    found += [one for one in _untracked() if _has(one, x)]
    instances = _instances([one for one in found if type(one) is dict])
    return [row for one in found for row in _rows_of(one, instances.get(id(one)), x)]


def _rows_of(holder: Any, instance: Any, x: Any) -> list[Any]:
    """A dict that is the namespace of an instance counts as part of it."""
    if instance is None:
        return [_row(holder, place) for place in _places(holder, x)]
    return [_row(instance, ("attribute", 0, key)) for slot, _, key in _places(holder, x) if slot == "value"]


def _untracked() -> list[Any]:
    """Tuples, dicts and frozensets that tracked objects hold, directly or in such ones: the collector leaves
    them out where they hold nothing that it tracks."""
    found: dict[int, Any] = {}
    level = gc.get_objects()
    while level:
        kinds = (one for one in gc.get_referents(*level) if any(type(one) is kind for kind in _UNTRACKED))
        level = [one for one in kinds if id(one) not in found and not gc.is_tracked(one)]
        found |= {id(one): one for one in level}
    return list(found.values())


def _has(container: Any, x: Any) -> bool:
    parts = list(container.values()) if type(container) is dict else container
    return id(x) in map(id, parts)


def _instances(dicts: list[Any]) -> dict[int, Any]:
    """By the address of a dict the instance whose namespace it is."""
    holders = gc.get_referrers(*dicts) if dicts else []
    return {id(own_dict(one)): one for one in holders if not issubclass(type(one), ModuleType)}


def _row(holder: Any, place: tuple[str, int, Any]) -> tuple[Any, ...]:
    slot, position, key = place
    boxed = None if key is None else Subject(key)
    return (0, "object", Subject(holder), slot, position, boxed, 1, True, 0, 0, 0, None)


def _places_of_named(holder: Any, x: Any) -> list[tuple[str, int, Any]]:
    kind = type(holder)
    if any(kind is one for one in (*_ENDS, *_ATOMS)) or issubclass(kind, type):
        return []
    return _places(holder, x)


def _places(holder: Any, x: Any) -> list[tuple[str, int, Any]]:
    """(slot, position, key) of each reference that a holder's own structure shows."""
    kind = type(holder)
    if kind is dict:
        return list(_in_dict(holder.copy(), x))
    if kind is list or kind is tuple:
        return [("item", n, None) for n, one in enumerate(holder[:]) if one is x]
    if kind is set or kind is frozenset:
        return [("element", 0, None) for one in holder.copy() if one is x]
    name = attribute_of(holder, x)
    if type(name) is str:
        return [("attribute", 0, name)]
    return [("field", offset, None) for offset in _fields(holder, kind, id(x))][:1]


def _in_dict(content: dict[Any, Any], x: Any) -> Iterator[tuple[str, int, Any]]:
    for key, value in content.items():
        if value is x:
            yield "value", 0, key
        if key is x:
            yield "key", 0, key


def _fields(holder: Any, kind: type, address: int) -> list[int]:
    size = type.__dict__["__basicsize__"].__get__(kind)
    raw = read(id(holder), size // 8 * 8) or b""
    words = struct.unpack(f"={len(raw) // 8}Q", raw)
    return [8 * n for n, word in enumerate(words) if word == address and 8 * n >= _HEAD]


def _in_frames(x: Any, own: str) -> Iterator[tuple[Any, ...]]:
    """Variables of this thread's functions, without those that borrow."""
    frame, depth = sys._getframe(1), 0
    while frame is not None:
        code = frame.f_code
        if code.co_flags & inspect.CO_OPTIMIZED and not code.co_filename.startswith(own):
            place = (code, frame.f_lineno, frame.f_lasti, depth, 0, 0)
            for name in locals_owning(frame, x):
                yield (0, "frame", None, "local", 0, Subject(name), 1, True, 0, 0, 0, place)
        frame, depth = frame.f_back, depth + 1
