"""Which calls of a statement made its value, and which of them say where the value's elements are from."""

# SPDX-License-Identifier: MIT
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from inspector.facts.conversion import ByteEvidence, Call, Copy, Span, Value
from inspector.facts.memory import Range
from inspector.facts.statements import Bound
from inspector.facts.unknown import Unknown
from inspector.verdicts.copies import judged

CONTRACT: Final = frozenset((
    "bytes", "bytearray", "tobytes", "to_pybytes", "from_buffer_copy", "copy", "__copy__", "deepcopy",
    "__deepcopy__", "clone",
))  # fmt: skip
"""Functions that copy by contract, also where all elements are the same and so prove nothing."""

_TAKES: Final = frozenset((
    *CONTRACT, "array", "asarray", "astype", "ascontiguousarray", "asfortranarray", "concatenate", "stack",
))  # fmt: skip
"""Functions whose new memory has their argument's elements, in whatever type or layout."""

_RETURN: Final = frozenset((
    "array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "asarray_chkfinite", "require",
    "astype", "atleast_1d", "atleast_2d", "atleast_3d", "as_tensor", "to", "contiguous", "bytes", "asformat",
    "block_until_ready",
    "tocsr", "tocsc", "tocoo", "tobsr", "ensure_index",
    "t_", "transpose_", "squeeze_", "unsqueeze_", "swapaxes_", "swapdims_", "as_strided_", "detach_",
    "resize_", "resize_as_", "rename_", "requires_grad_",
))  # fmt: skip
"""Functions that return their argument where it is already what they would make of it, and torch's that only
show its bytes in another way; they write nothing."""
_ONLY_RETURN: Final = ("block_until_ready",)
"""JAX's wait, which gives back its argument: that had no elements yet when it was called."""

_LETTERS: Final = ("capitalize", "lower", "swapcase", "title", "upper")

_NUMBERS: Final = re.compile(r" (u?int|float|complex)\d+ \(")


def makers(value: Bound, evidence: Sequence[ByteEvidence]) -> list[ByteEvidence]:
    """The calls of the statement whose result lies where the value does."""
    return [found for found in evidence if _lie_in(_made(found), value.ranges)]


def telling(value: Bound, made: Sequence[ByteEvidence]) -> list[Copy]:
    """What those calls did that speak of the operands' elements. What a library copied or shared of results
    of its own does not, nor does a copy of less than the value's largest part, as of a mask, nor one whose
    memory another call made anew."""
    if not value.operands or not value.ranges or value.relation == "unknown":
        return [judged(found) for found in made if _of_kind(found, value)]
    largest = max(value.ranges, key=lambda one: one.bytes)
    of_all = [(found, judged(found)) for found in made if _lie_in(_made(found), (largest,))]
    others = [copy for _, copy in of_all if copy.verdict == "computed" or _is_guess(copy)]
    copied = [copy for found, copy in of_all if copy.verdict == "copied" and _of_operand(found, value)]
    kept = [judged(found) for found in made if found.was_kept and not found.overlaps]
    return [*(() if others else copied), *(one for one in others if one.verdict != "copied"), *kept]


def proved(value: Bound, copied: Sequence[Copy]) -> bool:
    """Whether these calls prove a copy: that elements which are all the same equal others does not."""
    return any(not value.uniform or copy.function.rpartition(".")[2] in _TAKES for copy in copied)


def returns_its_argument(copy: Copy, always: bool = False) -> bool:
    """Whether a call that returned its argument left it as it was. `always`: if it returns nothing else."""
    return copy.function.rpartition(".")[2] in (_ONLY_RETURN if always else _RETURN)


def changes_letters(copy: Copy) -> bool:
    """Whether a call of bytes leaves all that is no letter as it was: a few equal bytes are no copy."""
    kind, _, name = copy.function.rpartition(".")
    return name in _LETTERS and kind.rpartition(".")[2] in ("bytes", "bytearray")


def is_passed_on(found: ByteEvidence) -> bool:
    """Whether a call only gave on what a call nested in it made, in another object: `tile` by `repeat`."""
    made = _spans(found.call)
    return bool(made) and any(_spans(one) == made for one in _within(found.call))


def _spans(call: Call) -> list[tuple[int, int]]:
    result = call.result
    return [] if isinstance(result, Unknown) else [(one.address, one.span_bytes) for one in result.spans]


def _within(call: Call) -> Iterator[Call]:
    for one in call.calls:
        yield one
        yield from _within(one)


def _is_guess(copy: Copy) -> bool:
    return copy.confidence == "likely" and copy.function.rpartition(".")[2] not in CONTRACT


def _of_operand(found: ByteEvidence, value: Bound) -> bool:
    """Whether what a call copied is an operand, or lies in one, and is of the value's kind."""
    if not _of_kind(found, value):
        return False
    given = [one for one in found.call.arguments if one.spans or one.item_type or one.items]
    if any(place.start == one.address for one in given for place in value.operands):  # a list
        return True
    mine = [one for one in given if _lie_in(one.spans, value.operands)]
    alike = _types(given) & _types([found.call.result])
    return bool(mine) and (not alike or bool(alike & _types(mine)))  # else another argument was copied


def _of_kind(found: ByteEvidence, value: Bound) -> bool:
    """Whether what a call made has elements as the value has: it may be freed, and the value lie there."""
    made = {one.kind for one in _made(found)} - {""}
    number = _NUMBERS.search(value.what)
    others = set("mM") | set("iu" if number and number[1] in ("float", "complex") else "fc" if number else "")
    return not made or (value.objects == ("O" in made) and not (number and made <= others))


def _types(some: Sequence[Value | Unknown]) -> set[tuple[str, int]]:
    return {(of.kind, of.item_bytes) for one in some if isinstance(one, Value) for of in one.spans}


def _made(found: ByteEvidence) -> tuple[Span, ...]:
    return () if isinstance(found.call.result, Unknown) else found.call.result.spans


def _lie_in(spans: Iterable[Span], ranges: Sequence[Range]) -> bool:
    return any(
        one.start < span.address + span.span_bytes and span.address < one.stop
        for span in spans
        for one in ranges
    )
