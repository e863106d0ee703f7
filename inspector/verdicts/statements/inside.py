"""Copies that libraries made on the way, which no value of the statement is."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterable, Sequence

from inspector.facts.conversion import Copy
from inspector.facts.statements import Bound, Inside, Operator
from inspector.verdicts.statements.operators import LIBRARY

LEAST_TOLD = 1024
"""Bytes that a library copied on the way: fewer, as of labels, are no news of a statement."""
NO_LIBRARY = ("", "builtins", "__main__", "function")


def inside(
    bound: Sequence[Bound], copied: Sequence[Copy], operators: Sequence[Operator]
) -> tuple[Inside, ...]:
    """What calls of C code copied beside the statement's values; torch's own copies are told by operator."""
    if not operators:
        return _of_libraries(bound, copied)
    others = [one for one in copied if one.function.partition(".")[0] != LIBRARY]
    return (*_of_torch(operators, bound), *_of_libraries(bound, others))[:1]


def _of_libraries(bound: Sequence[Bound], copied: Sequence[Copy]) -> tuple[Inside, ...]:
    if sum(copy.copied_bytes for copy in copied) < LEAST_TOLD:
        return ()
    known = [value.library for value in bound if value.library not in NO_LIBRARY]
    names = known or [copy.function.partition(".")[0] for copy in copied if "." in copy.function]
    library = names[0] if names else "libraries"
    return (Inside(library, sum(copy.times for copy in copied), sum(copy.copied_bytes for copy in copied)),)


def _of_torch(operators: Iterable[Operator], bound: Sequence[Bound]) -> tuple[Inside, ...]:
    """Copies that no value of the statement is the result of, as far as their places are known."""
    lengths: dict[int, int] = {one.start: one.stop - one.start for value in bound for one in value.ranges}
    copies = size = 0
    for one in operators:
        mine = [lengths[start] for start in one.starts if start in lengths]
        left = one.times - len(mine)
        if one.did == "copied" and left and (not mine or one.times <= len(one.starts)):
            copies, size = copies + left, size + max(one.bytes - sum(mine), 0)
    return (Inside(LIBRARY, copies, size),) if copies else ()


def largest(some: Sequence[Copy]) -> Copy | None:
    """The one with most bytes, if it is worth a row."""
    large = (one for one in some if one.span_bytes >= LEAST_TOLD)
    return max(large, key=lambda one: one.span_bytes, default=None)
