"""Whether a copy was needed: what was copied, or the copy, was written afterwards."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterable

from inspector.facts.memory import Range
from inspector.facts.statements import Bound, Written


class Writes:
    """The statements that changed bytes in place, and the loops they stand in."""

    def __init__(self, written: Iterable[Written], bound: Iterable[Bound]) -> None:
        self._loops = {(one.file, one.line): one.loop for one in written}
        self._all = [one for one in bound if one.relation == "in place"]

    def after(self, value: Bound) -> bool:
        """Whether a statement that runs after a value was bound wrote to it, or to an operand of it."""
        own = (*value.ranges, *value.operands)
        return any(_meet(one.ranges, own) for one in self._all if self._may_follow(one, value))

    def _may_follow(self, one: Bound, value: Bound) -> bool:
        """Also an earlier line of the same loop runs again after the value."""
        loop, other = (self._loops.get((each.file, each.line), 0) for each in (value, one))
        return one.file != value.file or one.line > value.line or (loop == other != 0 and one is not value)


def _meet(some: Iterable[Range], others: Iterable[Range]) -> bool:
    known = tuple(others)
    return any(one.start < other.stop and other.start < one.stop for one in some for other in known)
