"""Which name holds the objects that were made last: some of them, each asked for the path that holds it."""

# SPDX-License-Identifier: MIT
import gc
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from inspector._native import Subject
from inspector.facts.heap import NewHolder, TypeChange
from inspector.objects.classes import full_name
from inspector.objects.ownership.shown_paths import path_of

LOOKED_AT: Final = 8
"""A walk of the heap each."""
MOST_TYPES: Final = 4
_GENERATIONS: Final = (2, 1, 0)
"""From the oldest on; in each, CPython appends: the newest object is the last."""


def newest_holder(grew: Sequence[TypeChange], names: Mapping[int, str]) -> NewHolder:
    """The name that holds most of some of the newest objects: of the type that grew most and is tracked.

    `names`: id of a dict -> the user's name for it.
    """
    tracked = [one for generation in _GENERATIONS for one in gc.get_objects(generation)]
    kinds = {id(kind): kind for kind in map(type, tracked)}  # a metaclass may define __hash__
    for row in grew[:MOST_TYPES]:
        ids = {at for at, kind in kinds.items() if row.objects > 0 and full_name(kind) == row.type_name}
        alike = [one for one in tracked if id(type(one)) in ids][-row.objects :] if ids else []
        if alike:
            del tracked
            return _voted([Subject(one) for one in alike[:: -max(1, len(alike) // LOOKED_AT)]], names)
    return NewHolder("", 0, 0)


def _voted(alike: list[Subject], names: Mapping[int, str]) -> NewHolder:
    chosen = alike[:LOOKED_AT]
    holders = Counter(filter(None, (_holder(path_of(one, names)) for one in chosen)))
    name, held = max(holders.items(), key=lambda row: row[1], default=("", 0))
    return NewHolder(name, held, len(chosen))


def _holder(path: str) -> str:
    """`Client._cache` of `Client._cache[7]['k']`; "" of a path that cannot be typed."""
    return "" if "→" in path else path.partition("[")[0]
