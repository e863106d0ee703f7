"""The verb `no_new`: a block that raises if it leaves new objects of a type alive."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import gc
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any, Final

from inspector import _native
from inspector.errors import InspectorError

PART: Final = 10_000
"""Objects whose referents are listed at once."""
MOST_SHOWN: Final = 3
"""Objects whose path the message tells, a walk of the heap each."""


class NoNew:
    """The block: what of these types lives at its end and did not at its beginning, fails it."""

    def __init__(self, match: str | type) -> None:
        from inspector.objects.classes import full_name

        self._match = full_name(match) if isinstance(match, type) else match
        self._kinds: dict[int, tuple[type, bool]] = {}
        self._before = frozenset[tuple[int, int]]()

    def __enter__(self) -> NoNew:
        gc.collect()
        self._before = frozenset((id(x), id(type(x))) for x in self._alive())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if kind is not None:
            return
        gc.collect()
        alive = (x for x in self._alive() if (id(x), id(type(x))) not in self._before)
        new = {id(x): _native.Subject(x) for x in alive}
        if new:
            raise _left(list(new.values()), self._match)

    def _alive(self) -> Iterator[Any]:
        """The objects of the types that the collector tracks or that those refer to."""
        from inspector.objects.referents import referents

        holders = _native.tracked_objects()
        yield from filter(self._is_one, holders)
        seen, at = set[int](), 0
        while at < len(holders):
            for x in referents(holders[at : at + PART]):
                is_holder = _native.exactly(x, dict, tuple, frozenset)  # untracked where all that it holds is
                if gc.is_tracked(x) or id(x) in seen or not (is_holder or self._is_one(x)):
                    continue
                seen.add(id(x))
                if self._is_one(x):
                    yield x
                if is_holder:
                    holders.append(x)
            at += PART

    def _is_one(self, x: Any) -> bool:
        from inspector.objects.classes import full_name

        kind = type(x)
        if id(kind) not in self._kinds:
            self._kinds[id(kind)] = (kind, fnmatchcase(full_name(kind), self._match))
        return self._kinds[id(kind)][1]


def no_new(match: str | type) -> NoNew:
    """Return a block that raises InspectorError `new-objects` if it leaves new objects of a type alive.

    `match`: a class, or a pattern of full names, "app.*", "numpy.ndarray". The message tells the path that
    holds each. Counted are objects that the collector tracks, and what those refer to: arrays, bytes.
    Example: `with no_new("app.Session"): handle(request)`.
    """
    return NoNew(match)


def _left(new: list[_native.Subject], match: str) -> InspectorError:
    first = [_held(one) for one in new[:MOST_SHOWN]]
    more = f", and {len(new) - MOST_SHOWN:,} more" if len(new) > MOST_SHOWN else ""
    many = "1 new object" if len(new) == 1 else f"{len(new):,} new objects"
    return InspectorError(
        f"{many} of {match} {'is' if len(new) == 1 else 'are'} alive at the end of the block.",
        slug="new-objects",
        why=f"held by {'; '.join(first)}{more}",
        do="let go of what holds them, or make them before the block",
    )


def _held(one: _native.Subject) -> str:
    """The path from a root; else the owners that a search of memory finds."""
    from inspector.ledger.owners import owners_of, said
    from inspector.objects.ownership.shown_paths import path_of

    if path := path_of(one, {}):
        return path
    owners, _ = owners_of([one])
    found = owners.get(one.address, ())
    return said(found[0]) if found else "nothing that memory shows (inspector.lost())"
