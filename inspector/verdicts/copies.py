"""What each call did with bytes (copied, computed, made, shared, in place), and why."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable, Iterable

from inspector.facts.conversion import (
    A_MAPPED_FILES,
    ByteEvidence,
    Call,
    Confidence,
    Copy,
    Span,
    Value,
    Verdict,
)
from inspector.facts.unknown import Unknown

COMPUTING = ("numpy.ufunc",)
"""Types of callables that always compute their elements, even if the results equal an argument's."""
PAYLOAD_BYTES = 4096
"""A shorter str counts as a name, a label or an option. From this size on the allocator is known too."""
ITS_ARGUMENTS = Unknown("it is an argument's memory")
TIMES = {"M": "datetime64", "m": "timedelta64"}
"""Their unit is not recorded."""
KINDS = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}
"""With the number of bits; the kinds of NumPy that have none stand in WORDS."""
WORDS = {"V": "struct", "O": "objects", **TIMES}
INTO_PASSED = "written into memory that the caller passed"
EMPTY = frozenset(("empty", "zeros", "ones", "identity", "eye"))
"""Functions whose arguments have no element of the result: a list among them is a shape or a type."""
OF_FIRST = frozenset(("array", "asarray", "asanyarray", "fromiter", "astype", "full"))
"""Functions whose result has elements of their first argument that has any; another list is a type."""
WIDTHS = {"S": 1, "U": 4}
"""Bytes of a character of NumPy's texts."""


def copies(
    evidence: Iterable[ByteEvidence], said: Callable[[ByteEvidence], Copy] | None = None
) -> tuple[Copy, ...]:
    """One Copy for each piece of evidence, the largest first; without short strings and partial evidence."""
    known = (found for found in evidence if found.logical_bytes and not found.partial)
    judgements = [(said or judged)(found) for found in known if not _is_text(found)]
    return tuple(sorted(judgements, key=lambda copy: -copy.copied_bytes))


def copied(evidence: Iterable[ByteEvidence]) -> tuple[Copy, ...]:
    """Only the copies: results in new memory with an argument's values."""
    return tuple(copy for copy in copies(evidence) if copy.verdict == "copied")


def verdicts(found: Iterable[ByteEvidence | Copy] | Unknown) -> tuple[Copy, ...] | Unknown:
    """A Copy for each item, in the same order."""
    if isinstance(found, Unknown):
        return found
    return tuple(item if isinstance(item, Copy) else judged(item) for item in found)


def _is_text(seen: ByteEvidence) -> bool:
    """Whether the result is a short str: a name or a label, not a payload."""
    result = seen.call.result
    is_str = isinstance(result, Value) and result.type_name == "str"
    return is_str and seen.logical_bytes < PAYLOAD_BYTES * seen.times


def judged(seen: ByteEvidence) -> Copy:
    """The verdict on one piece of evidence."""
    verdict, confidence = _verdict(seen)
    fresh = verdict in ("copied", "computed", "made")
    reason, avoid = _reason(seen, verdict)
    return Copy(
        verdict=verdict,
        copied_bytes=seen.logical_bytes if fresh else 0,
        span_bytes=seen.span_bytes,
        confidence=confidence,
        reason=reason,
        avoid=avoid,
        function=seen.call.name,
        times=seen.times,
        allocator=seen.allocator if fresh or not (seen.overlaps or seen.same_object) else ITS_ARGUMENTS,
        source=", ".join(_text(value) for value in _sources(seen.call)) or "nothing that has bytes",
        result=_text(seen.call.result) if isinstance(seen.call.result, Value) else str(seen.call.result),
        site=seen.call.site,
        frames=seen.frames if fresh else (),
    )


def _verdict(seen: ByteEvidence) -> tuple[Verdict, Confidence]:
    if seen.was_filled:
        return "copied", "by sample"
    if seen.same_object:
        return "in place", "certain"
    if seen.overlaps:
        return "shared", "certain"
    if seen.was_kept:
        return "shared", seen.was_there or "certain"
    if seen.call.callable_type in COMPUTING:
        return "computed", "certain"
    if seen.sample:
        return ("copied" if seen.sample == "equal" else "computed"), "by sample"
    if _sources(seen.call):
        return "copied", "likely"
    return "made", "certain" if seen.owned else "likely"


def _sources(call: Call) -> list[Value]:
    """Arguments with bytes or items: possible sources of the result."""
    found = [value for value in call.arguments if not value.is_shape and _has_bytes(value)]
    name = call.name.rpartition(".")[2]
    return [] if name in EMPTY else found[:1] if name in OF_FIRST else found


def _has_bytes(value: Value) -> bool:
    is_name = value.type_name == "str" and sum(span.logical_bytes for span in value.spans) < PAYLOAD_BYTES
    return bool(value.item_type or (value.spans and not is_name))


def _text(value: Value) -> str:
    """A value in words: "ndarray float64", "list of 1,000 float"."""
    name = str(value.type_name).rpartition(".")[2]
    if value.item_type:
        return f"{name} of {value.items:,} {value.item_type.rpartition('.')[2]}"
    span = value.spans[0] if value.spans else None
    if span is None or name in ("bytes", "bytearray"):
        return name
    is_told = span.kind != "V" or name == "ndarray"  # others give it to what they do not tell
    return f"{name} {_element(span.kind, span.item_bytes) if is_told else ''}".strip()


def _element(kind: str, bytes_: int) -> str:
    """ "float64"; "U5" of texts of 5 characters."""
    if kind in KINDS:
        return KINDS[kind] + (f"{bytes_ * 8}" if kind != "b" else "")
    return f"{kind}{bytes_ // WIDTHS[kind]}" if kind in WIDTHS else WORDS.get(kind, "")


def _reason(seen: ByteEvidence, verdict: Verdict) -> tuple[str, str]:
    """(why it happened, how to avoid it)."""
    result, sources = seen.call.result, _sources(seen.call)
    if verdict == "copied" and seen.same_object:
        return INTO_PASSED, ""
    if verdict == "shared" and seen.shows_file and not seen.overlaps:
        return A_MAPPED_FILES, ""
    if verdict == "shared" and not seen.overlaps:
        return "the memory was allocated before the call: something keeps it", ""
    if verdict in ("shared", "in place"):
        return (
            "the result's bytes are an argument's" if verdict == "shared" else "it returned its argument"
        ), ""
    if verdict == "made" or isinstance(result, Unknown) or not sources:
        return "no argument has bytes", ""
    if verdict == "computed":
        return (
            "the elements differ from every argument's",
            "preallocate the result: out=" if seen.times > 1 else "",
        )
    return _why_copied(seen, sources, result)


_TEXTS = ("bytes", "str")
"""Items that have bytes of their own, and are no arrays."""


def _is_of(value: Value, made: Span) -> bool:
    """Whether a value has elements of the type that was made."""
    return any((one.kind, one.item_bytes) == (made.kind, made.item_bytes) for one in value.spans)


def _why_copied(seen: ByteEvidence, sources: list[Value], result: Value) -> tuple[str, str]:
    source = sources[0]
    inside = [value for value in sources if value.item_type]
    if inside and (not source.spans or source.item_type in _TEXTS):
        return f"a {source.type_name} has no buffer", "keep it an array from the start"
    if not source.spans or not result.spans:
        return "the other side has no buffer", ""
    if result.type_name == "str" or source.type_name == "str":
        return "a str does not share its characters", ""
    if len(source.spans) > 1:
        has_out = str(seen.call.name).rpartition(".")[2].lstrip("_") in ("concatenate", "stack", "cat")
        many = max(source.items, len(source.spans)) if source.item_type else len(source.spans)
        joined = f"{many:,} arrays are joined into one"
        return (
            joined if len(result.spans) == 1 else "its blocks are copied",
            "fill a preallocated array: out=" if has_out else "",
        )
    if result.type_name in ("bytes", "bytearray"):
        own = "bytes own their" if result.type_name == "bytes" else "a bytearray owns its"
        return f"{own} memory", "memoryview(x) shares it"
    given, made = source.spans[0], result.spans[0]
    if given.kind == "b" != made.kind and any(_is_of(one, made) for one in sources[1:]):
        return "chosen by a mask", ""
    if (
        given.kind.strip("V")
        and made.kind.strip("V")
        and (given.kind, given.item_bytes) != (made.kind, made.item_bytes)
    ):
        return f"element type changes: {_text(source)} → {_text(result)}", "make it that type from the start"
    if given.contiguous != made.contiguous and given.contiguous in ("", "F", "C"):
        words = {"": "gaps", "F": "Fortran order", "C": "C order", "CF": "one axis"}
        return f"layout changes: {words[given.contiguous]} → {words[made.contiguous]}", "keep the layout"
    if made.logical_bytes > given.logical_bytes:
        return "a larger array was made of it", ""
    if made.logical_bytes < given.logical_bytes:
        return "a part of it was selected", "a slice with steps is a view"
    if given.read_only and not made.read_only and not str(seen.call.name).endswith("astype"):
        return "the source is read-only, the result is not", ""
    if made.kind in TIMES and str(seen.call.name).endswith("astype"):
        return "its times are written in the unit that was asked for", ""
    return "a copy was asked for", ""
