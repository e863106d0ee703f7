"""What objects own beyond Python, for all that some roots reach."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable, Sequence
from typing import Any, Final

from inspector import _native
from inspector._native import Subject
from inspector.adapters.base import Adapter, type_attribute
from inspector.adapters.beyond import Beyond
from inspector.adapters.registry import adapter_of, shared

MOST_OBJECTS: Final = 30_000_000
MOST_LEAVES: Final = 100_000


def beyond(roots: Sequence[_native.Subject]) -> Beyond:
    """The counted objects of C++ that the roots reach. Runs no code of theirs; holds none of them."""
    found, seen = Beyond(), set[int]()
    shared().wake()
    if not any(map(owns_beyond, shared().awake)):
        return found
    waiting = tuple(roots)
    while waiting:
        seen.update(subject.address for subject in waiting)
        _add(waiting, found)
        named = [Subject(one) for one in found.named() if id(one) not in seen]
        waiting = tuple(named)
    return found


def _add(roots: tuple[_native.Subject, ...], found: Beyond) -> None:
    held, complete = leaves(roots, owns_beyond)
    for one in held:
        _ask(one, found)
    if not complete:
        found.why = "too many objects"


def leaves(roots: tuple[_native.Subject, ...], wanted: Callable[[Adapter], bool]) -> tuple[list[Any], bool]:
    """(objects that the roots reach whose adapters are `wanted`, each once; whether that is all)."""
    _, types, complete = _native.reached(roots, (), (), MOST_OBJECTS, 0, True)
    kinds = tuple(kind for kind in types if (one := adapter_of(kind)) is not None and wanted(one))
    if not kinds:
        return [], complete
    rows, _, complete = _native.reached(roots, (), kinds, MOST_OBJECTS, MOST_LEAVES, True)
    held = [one for row in rows for one in (*row[3], *row[4])]
    return held, complete and len(held) < MOST_LEAVES


def _ask(x: Any, found: Beyond) -> None:
    adapter = adapter_of(type(x))
    if adapter is not None:
        adapter.beyond(x, found)


def owns_beyond(adapter: Adapter) -> bool:
    """Whether objects of its library own what C++ counts."""
    return type_attribute(type(adapter), "beyond") is not Adapter.beyond
