"""The change by one call of the reference counts of its arguments, and of what they hold, one level deep.

From CPython's documentation ("Reference Count Details"): a function that only borrows its arguments leaves
their counts unchanged, except for references in its result. One fewer: it released or stole a borrowed
reference; one more: C keeps it or lost it. The dtype and the base of an array count too, since
`PyArray_Empty` and similar functions steal a dtype.
"""

# SPDX-License-Identifier: MIT
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from inspector._native import Subject
from inspector.facts.compiled import Balanced, Verdict
from inspector.facts.unknown import Unknown
from inspector.objects.referents import referents

_HOLDERS: Final = 2
"""Our holders of an argument during the call: the mapping of names, and the tuple of values."""


class Balance:
    """Counts taken before a call; `rows(box)` compares them with those after it.

    References that only the call itself needs, in `arguments` and the tuple made of it, are subtracted.
    """

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        ours = Counter(id(x) for x in arguments.values())
        named: dict[int, tuple[str, Subject, int]] = {}
        for name, x in _with_held(arguments):
            named.setdefault(id(x), (name, Subject(x), _HOLDERS * ours[id(x)]))
        del x
        self._rows = list(named.values())
        self._before = [subject.refcount() for _, subject, _ in self._rows]

    def rows(self, box: list[Any]) -> tuple[Balanced, ...]:
        """One row for each object. `box` is the only holder of the result; empty after an exception."""
        found, unsure = _found(box, {subject.address for _, subject, _ in self._rows})
        return tuple(
            _row(*row, before, found, unsure) for row, before in zip(self._rows, self._before, strict=True)
        )


def _with_held(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, x in arguments.items():
        yield name, x
        yield from ((f"{name}.{relation}", held) for relation, held in _held(x))


def _held(x: Any) -> Iterator[tuple[str, Any]]:
    """What an array holds, by NumPy's own getters, not those of a subclass."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(x, numpy.ndarray):
        yield "dtype", numpy.ndarray.dtype.__get__(x)
        base = numpy.ndarray.base.__get__(x)
        if base is not None:
            yield "base", base


def _found(box: list[Any], known: set[int]) -> tuple[list[int], set[int]]:
    """Addresses of the results and of what they refer to; and of what only older results refer to.

    A result without another holder was created by the call. An argument's contents were counted before it.
    """
    items = _items(box)
    counts = [item.refcount() for item in items]  # before anything else holds them
    found: list[int] = [item.address for item in items]
    unsure: set[int] = set()
    for item, count in zip(items, counts, strict=True):
        if item.address not in known and count == 1:
            found += _inside(item.get())
        elif item.address not in known:
            unsure.update(_inside(item.get()))
    return found, unsure


def _items(box: list[Any]) -> list[Subject]:
    """The result, or the items of a tuple of results. One that only the box or the tuple holds is new."""
    if box and type(box[0]) is tuple:
        return [Subject(box[0][number]) for number in range(len(box[0]))]
    return [Subject(box[number]) for number in range(len(box))]


def _inside(item: Any) -> list[int]:
    return [id(one) for one in (*referents((item,)), *(held for _, held in _held(item)))]


def _row(
    name: str, subject: Subject, ours: int, before: int | None, found: list[int], unsure: set[int]
) -> Balanced:
    after, held = subject.refcount(), found.count(subject.address)
    shown = _shown(subject.get())
    if before is None or after is None:
        immortal = Unknown("immortal: its count does not change (PEP 683)")
        return Balanced(name, shown, immortal, immortal, held, immortal)
    before, after = before - ours, after - ours
    if subject.address in unsure and after - before != held:
        older = Unknown("the result refers to it, and may be older than the call")
        return Balanced(name, shown, before, after, held, older)
    return Balanced(name, shown, before, after, held, _verdict(after - before - held))


def _verdict(unexplained: int) -> Verdict:
    return "balanced" if unexplained == 0 else "over-released" if unexplained < 0 else "more than found"


def _shown(x: Any) -> str:
    """Its type; for a dtype its name, from NumPy."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(x, numpy.dtype):
        return f"dtype('{x.name}')"
    return type(x).__name__
