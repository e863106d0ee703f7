"""What torch's operators say about a statement: who made its value, and what was copied on the way."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from inspector.facts.conversion import ByteEvidence, Confidence, Copy, Value
from inspector.facts.statements import Bound, Did, Operator
from inspector.verdicts.copies import judged

LIBRARY = "torch"
MOVES: Final = frozenset(
    f"aten::{name}" for name in ("cat", "stack", "clone", "index_select", "gather", "flip", "roll", "repeat")
)
"""Operators each element of whose result is one of an operand's."""


def maker(value: Bound, operators: Sequence[Operator]) -> Operator | None:
    """The last operator whose result begins where a value that stands apart from its operands does."""
    if value.relation != "apart" or not value.ranges:
        return None
    made = (one for one in operators if value.ranges[0].start in one.starts and one.did != "in place")
    return max(made, key=lambda one: operators.index(one), default=None)


def is_moved(value: Bound, operator: Operator, operators: Sequence[Operator]) -> bool:
    """Whether a value has elements of what its operator was given, though it differs from what has a name:
    no other operator of the statement wrote where it lies."""
    start = value.ranges[0].start
    return operator.name in MOVES and not any(
        one is not operator and start in one.starts for one in operators
    )


def written_after(value: Bound, operators: Sequence[Operator]) -> Operator | None:
    """The operator that changed a value's elements in place, in the statement that made it."""
    start = value.ranges[0].start
    return next((one for one in operators if one.did == "in place" and start in one.starts), None)


def did_of(one: Operator) -> Did:
    """The verdict on a value that an operator made."""
    return "copied" if one.did == "copied" else "new values"


def together(operators: Sequence[Operator]) -> tuple[Did, int]:
    """What a statement without a value did, and the bytes: it copied, if its operators did nothing else."""
    sizes = {
        did: sum(one.bytes for one in operators if one.did == did) for did in ("new", "copied", "in place")
    }
    if sizes["copied"] and not sizes["new"]:
        return "copied", sizes["copied"]
    made = sizes["new"] or all(one.did != "in place" for one in operators)  # also of no bytes
    return ("new values", sizes["new"]) if made else ("in place", sizes["in place"])


def by_weight(operators: Iterable[Operator]) -> tuple[Operator, ...]:
    """Those that copied first, then by bytes."""
    return tuple(sorted(operators, key=lambda one: (one.did != "copied", one.did == "in place", -one.bytes)))


def said_by(operators: Sequence[Operator]) -> Callable[[ByteEvidence], Copy]:
    """The verdict on a call; of what torch's operators made, what they say: values may be alike by chance."""
    return lambda seen: _said(judged(seen), seen, operators)


def _said(copy: Copy, seen: ByteEvidence, operators: Sequence[Operator]) -> Copy:
    made = seen.call.result
    if copy.function.partition(".")[0] != LIBRARY or copy.verdict not in ("copied", "computed"):
        return copy
    if seen.same_object or not isinstance(made, Value) or not made.spans:
        return copy
    of_line = [one for one in operators if (one.file, one.line) == (copy.site.file, copy.site.line)]
    by = [one for one in of_line if one.did != "in place" and made.spans[0].address in one.starts]
    if not by or did_of(by[-1]) == _WORDS[copy.verdict]:
        return copy
    one_did = len({one.did for one in by}) == 1  # else memory was used again within the line
    sure: Confidence = "certain" if one_did else "likely"
    if by[-1].did == "copied":
        return replace(judged(replace(seen, sample="equal")), confidence=sure)
    computed = judged(replace(seen, sample="different"))
    return replace(computed, confidence=sure, reason=f"{by[-1].name} computes its elements")


_WORDS: Final[dict[str, Did]] = {"copied": "copied", "computed": "new values"}
