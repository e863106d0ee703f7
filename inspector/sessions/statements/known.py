"""Where the values lie that statements named or bound: one that a later statement does not name may hold
what that one bound, as the data set of a tensor does.
"""

# SPDX-License-Identifier: MIT
from types import FrameType
from typing import Any, Final

from inspector.objects.sharing.meetings import Blocks, meetings
from inspector.sessions.statements import values
from inspector.sessions.statements.elements import bytes_of, elements_of

MOST: Final = 256
_FIRST: Final = 2
"""Blocks of a value that are kept."""


class Known:
    """The latest places, each with the path of the value that lay there."""

    def __init__(self) -> None:
        self._places: dict[tuple[int, int, str], None] = {}

    def add(self, path: str, blocks: Blocks) -> None:
        """Note where a value lies."""
        for one in blocks[:_FIRST] if path else ():
            self._places.pop((one.range.start, one.range.stop, path), None)
            self._places[one.range.start, one.range.stop, path] = None
        while len(self._places) > MOST:
            del self._places[next(iter(self._places))]

    def holder(self, frame: FrameType, value: Any, blocks: Blocks) -> values.Related | None:
        """How a value's blocks relate to a value of the frame that has them too, one of its own type first;
        None if none of those known has."""
        start, stop = blocks[0].range.start, blocks[0].range.stop
        paths = dict.fromkeys(path for low, high, path in self._places if low < stop and start < high)
        held = [(path, values.read(frame, path)) for path in paths]
        for path, found in sorted(held, key=lambda one: not (one[1] and type(one[1][0]) is type(value))):
            is_other = found and found[0] is not value  # a name bound anew may have the memory it had before
            met = meetings((elements_of(found[0]), blocks)).get((0, 1), []) if is_other else []
            if met:
                return values.Related("view", path, bytes_of(tuple(mine for _, mine in met)), "", False)
        return None
