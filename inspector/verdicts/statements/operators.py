"""What torch's operators say about a statement: who made its value, and what was copied on the way."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterable, Sequence

from inspector.facts.conversion import Copy
from inspector.facts.statements import Bound, Did, Inside, Operator

LIBRARY = "torch"


def maker(value: Bound, operators: Sequence[Operator]) -> Operator | None:
    """The last operator whose result begins where a value that stands apart from its operands does."""
    if value.relation != "apart" or not value.ranges:
        return None
    made = (one for one in operators if value.ranges[0].start in one.starts and one.did != "in place")
    return max(made, key=lambda one: operators.index(one), default=None)


def did_of(one: Operator) -> Did:
    """The verdict on a value that an operator made."""
    return "copied" if one.did == "copied" else "new values"


def together(operators: Sequence[Operator]) -> tuple[Did, int]:
    """What a statement without a value did, and the bytes: it copied, if its operators did nothing else."""
    sizes = {
        did: sum(one.bytes for one in operators if one.did == did) for did in ("new", "copied", "in place")
    }
    if sizes["new"] or not sizes["copied"]:
        return ("new values", sizes["new"]) if sizes["new"] else ("in place", sizes["in place"])
    return "copied", sizes["copied"]


def inside(operators: Iterable[Operator], makers: Sequence[Operator | None]) -> tuple[Inside, ...]:
    """Copies that no value of the statement is the result of."""
    copied = [one for one in operators if one.did == "copied"]
    times = sum(one.times - (one in makers) for one in copied)
    size = sum(one.bytes - (one.bytes // one.times if one in makers else 0) for one in copied)
    return (Inside(LIBRARY, times, size),) if times else ()


def by_weight(operators: Iterable[Operator]) -> tuple[Operator, ...]:
    """Those that copied first, then by bytes."""
    return tuple(sorted(operators, key=lambda one: (one.did != "copied", one.did == "in place", -one.bytes)))


def not_torchs(copies: Iterable[Copy]) -> list[Copy]:
    """Copies that torch did not make: its own are counted by operator."""
    return [one for one in copies if one.function.partition(".")[0] != LIBRARY]
