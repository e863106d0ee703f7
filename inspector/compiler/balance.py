"""What one call did to the reference counts of its arguments, and of what they hold one level down.

The rule of CPython's documentation ("Reference Count Details") read backwards: a function that only borrows
its arguments leaves their counts as they were, but for the references that can be found in its result. One
fewer, and a borrowed reference was released or stolen; one more, and C keeps it or lost it. The dtype and
the base of an array count too, since `PyArray_Empty` and its like steal a dtype.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from inspector._native import Subject
from inspector.facts.compiled import Balanced, Verdict
from inspector.facts.unknown import Unknown


class Balance:
    """Counts taken before a call; `rows(result)` compares them with those after it."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self._subjects: list[tuple[str, Subject, int | None]] = []
        seen: set[int] = set()
        for name, x in _with_held(arguments):
            if id(x) not in seen:
                seen.add(id(x))
                self._subjects.append((name, Subject(x), None))
        del x
        self._subjects = [(name, subject, subject.refcount()) for name, subject, _ in self._subjects]

    def rows(self, box: list[Any]) -> tuple[Balanced, ...]:
        """One row an object. `box` holds the result, and is its only holder; empty after an exception."""
        found = [address for number in range(len(box)) for address in _found(box[number])]
        return tuple(_row(name, subject, before, found) for name, subject, before in self._subjects)


def _with_held(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, x in arguments.items():
        yield name, x
        yield from ((f"{name}.{relation}", held) for relation, held in _held(x))


def _held(x: Any) -> Iterator[tuple[str, Any]]:
    """What an array holds, by NumPy's own getters: a subclass is not asked."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(x, numpy.ndarray):
        yield "dtype", numpy.ndarray.dtype.__get__(x)
        base = numpy.ndarray.base.__get__(x)
        if base is not None:
            yield "base", base


def _found(result: Any) -> Iterator[int]:
    """Addresses of what the result refers to: itself once, its items, what an array among them holds."""
    items = result if type(result) is tuple else (result,)
    for item in items:
        yield id(item)
        yield from (id(one) for one in gc.get_referents(item))
        yield from (id(one) for _, one in _held(item))


def _row(name: str, subject: Subject, before: int | None, found: list[int]) -> Balanced:
    after, held = subject.refcount(), found.count(subject.address)
    shown = _shown(subject.get())
    if before is None or after is None:
        immortal = Unknown("immortal: its count does not move (PEP 683)")
        return Balanced(name, shown, immortal, immortal, held, immortal)
    return Balanced(name, shown, before, after, held, _verdict(after - before - held))


def _verdict(surplus: int) -> Verdict:
    return "kept" if surplus == 0 else "over-released" if surplus < 0 else "more than found"


def _shown(x: Any) -> str:
    """Its type; of a dtype its name, which NumPy gives."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(x, numpy.dtype):
        return f"dtype('{x.name}')"
    return type(x).__name__
