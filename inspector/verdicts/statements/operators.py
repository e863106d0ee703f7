"""What torch's operators say about a statement: who made its value, and what was copied on the way."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from inspector.facts.conversion import ByteEvidence, Confidence, Copy, Value
from inspector.facts.statements import Bound, Did, Inside, Operator
from inspector.verdicts.copies import judged

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
    if sizes["copied"] and not sizes["new"]:
        return "copied", sizes["copied"]
    made = sizes["new"] or all(one.did != "in place" for one in operators)  # also of no bytes
    return ("new values", sizes["new"]) if made else ("in place", sizes["in place"])


def inside(operators: Iterable[Operator], makers: Sequence[Operator | None]) -> tuple[Inside, ...]:
    """Copies that no value of the statement is the result of."""
    copied = [one for one in operators if one.did == "copied"]
    times = sum(one.times - (one in makers) for one in copied)
    size = sum(one.bytes - (one.bytes // one.times if one in makers else 0) for one in copied)
    return (Inside(LIBRARY, times, size),) if times else ()


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


def not_torchs(copies: Iterable[Copy]) -> list[Copy]:
    """Copies that torch did not make: its own are counted by operator."""
    return [one for one in copies if one.function.partition(".")[0] != LIBRARY]
