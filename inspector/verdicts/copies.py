"""What became of the bytes at each call: copied, computed, made, shared or in place; and why."""

from __future__ import annotations

from collections.abc import Iterable

from inspector.facts.conversion import A_MAPPED_FILES, ByteEvidence, Call, Confidence, Copy, Value, Verdict
from inspector.facts.unknown import Unknown

COMPUTING = ("numpy.ufunc",)
"""Types of callables that compute each element, whatever the values come to."""
PAYLOAD_BYTES = 4096
"""A str of fewer is a name, a label, an option; of a memory block of this size the allocator is known too."""
ITS_ARGUMENTS = Unknown("it is an argument's memory")
KINDS = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex", "S": "bytes", "U": "str"}


def copies(evidence: Iterable[ByteEvidence]) -> tuple[Copy, ...]:
    """One Copy for each piece of evidence, the largest first, but for short texts and what is not known."""
    told = (one for one in evidence if one.logical_bytes and not one.partial)
    made = [judged(one) for one in told if not _is_text(one)]
    return tuple(sorted(made, key=lambda copy: -copy.copied_bytes))


def copied(evidence: Iterable[ByteEvidence]) -> tuple[Copy, ...]:
    """Those in fresh memory that hold an argument's values."""
    return tuple(copy for copy in copies(evidence) if copy.verdict == "copied")


def verdicts(found: Iterable[ByteEvidence | Copy] | Unknown) -> tuple[Copy, ...] | Unknown:
    """A Copy of each, in their order."""
    if isinstance(found, Unknown):
        return found
    return tuple(one if isinstance(one, Copy) else judged(one) for one in found)


def _is_text(one: ByteEvidence) -> bool:
    """A result that is a short str: names and labels, not a payload."""
    result = one.call.result
    is_str = isinstance(result, Value) and result.type_name == "str"
    return is_str and one.logical_bytes < PAYLOAD_BYTES * one.times


def judged(one: ByteEvidence) -> Copy:
    """The verdict on one piece of evidence."""
    verdict, confidence = _verdict(one)
    fresh = verdict in ("copied", "computed", "made")
    reason, avoid = _reason(one, verdict)
    return Copy(
        verdict=verdict,
        copied_bytes=one.logical_bytes if fresh else 0,
        span_bytes=one.span_bytes,
        confidence=confidence,
        reason=reason,
        avoid=avoid,
        function=one.call.name,
        times=one.times,
        allocator=one.allocator if fresh or not (one.overlaps or one.same_object) else ITS_ARGUMENTS,
        source=", ".join(_said(value) for value in _sources(one.call)) or "nothing that has bytes",
        result=_said(one.call.result) if isinstance(one.call.result, Value) else str(one.call.result),
        site=one.call.site,
        frames=one.frames if fresh else (),
    )


def _verdict(one: ByteEvidence) -> tuple[Verdict, Confidence]:
    if one.was_filled:
        return "copied", "by sample"
    if one.same_object:
        return "in place", "certain"
    if one.overlaps:
        return "shared", "certain"
    if one.was_kept:
        return "shared", one.was_there or "certain"
    if one.call.callable_type in COMPUTING:
        return "computed", "certain"
    if one.sample:
        return ("copied" if one.sample == "equal" else "computed"), "by sample"
    if _sources(one.call):
        return "copied", "likely"
    return "made", "certain" if one.owned else "likely"


def _sources(call: Call) -> list[Value]:
    """Arguments with bytes or items that the result can have come from."""
    return [value for value in call.arguments if not value.is_shape and _has_bytes(value)]


def _has_bytes(value: Value) -> bool:
    is_name = value.type_name == "str" and sum(span.logical_bytes for span in value.spans) < PAYLOAD_BYTES
    return bool(value.item_type or (value.spans and not is_name))


def _said(value: Value) -> str:
    """A value in words: "ndarray float64", "list of 1,000 float"."""
    name = str(value.type_name).rpartition(".")[2]
    if value.item_type:
        return f"{name} of {value.items:,} {value.item_type.rpartition('.')[2]}"
    span = value.spans[0] if value.spans else None
    if span is None or name in ("bytes", "bytearray"):
        return name
    bits = f"{KINDS[span.kind]}{span.item_bytes * 8}" if span.kind in "biufc" and span.kind else ""
    return f"{name} {bits}".strip()


def _reason(one: ByteEvidence, verdict: Verdict) -> tuple[str, str]:
    """(why it had to be, what would save it)."""
    result, sources = one.call.result, _sources(one.call)
    if verdict == "copied" and one.same_object:
        return "written into memory that was given for it", ""
    if verdict == "shared" and one.shows_file and not one.overlaps:
        return A_MAPPED_FILES, ""
    if verdict == "shared" and not one.overlaps:
        return "the memory was there before the call: something keeps it", ""
    if verdict in ("shared", "in place"):
        return (
            "the result's bytes are an argument's" if verdict == "shared" else "it gave its argument back"
        ), ""
    if verdict == "made" or isinstance(result, Unknown) or not sources:
        return "no argument has bytes", ""
    if verdict == "computed":
        return (
            "the elements differ from every argument's",
            "give the result a place: out=" if one.times > 1 else "",
        )
    return _why_copied(one, sources, result)


def _why_copied(one: ByteEvidence, sources: list[Value], result: Value) -> tuple[str, str]:
    source = sources[0]
    inside = [value for value in sources if value.item_type]
    if inside and not source.spans:
        return f"a {source.type_name} has no buffer", "keep it an array from the start"
    if not source.spans or not result.spans:
        return "the other side has no buffer", ""
    if len(source.spans) > 1:
        return f"{len(source.spans)} arrays are joined into one", "fill a preallocated array: out="
    if result.type_name == "str" or source.type_name == "str":
        return "a str keeps its characters to itself", ""
    if result.type_name in ("bytes", "bytearray"):
        return f"{result.type_name} own their memory", "memoryview(x) shares it"
    given, made = source.spans[0], result.spans[0]
    if (
        given.kind.strip("V")
        and made.kind.strip("V")
        and (given.kind, given.item_bytes) != (made.kind, made.item_bytes)
    ):
        return f"element type changes: {_said(source)} → {_said(result)}", "make it that type from the start"
    if given.contiguous != made.contiguous and given.contiguous in ("", "F", "C"):
        words = {"": "gaps", "F": "Fortran order", "C": "C order", "CF": "one axis"}
        return f"layout changes: {words[given.contiguous]} → {words[made.contiguous]}", "keep the layout"
    if made.logical_bytes != given.logical_bytes:
        return "a part of it was selected", "a slice with steps is a view"
    if given.read_only and not made.read_only:
        return "the source is read-only, the result is not", ""
    return "a copy was asked for", "share it where nobody writes"
