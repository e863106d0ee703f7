"""A trace as facts: calls into native code, the conversions they ran, what was copied, lost or shared."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import re
from typing import Final, Literal

from inspector.facts.hosted import NOT_HOSTED, Hosted
from inspector.facts.memory import Range
from inspector.facts.native import Place
from inspector.facts.record import dataclass
from inspector.facts.unknown import Address, Unknown

Verdict = Literal["copied", "computed", "made", "shared", "in place"]
"""What happened to the bytes of a call's result. copied: an argument's values in new memory; computed: other
values in new memory; made: new memory, no argument has bytes; shared: memory that existed before the call,
an argument's or one that something else keeps; in place: the result is the argument itself."""

Confidence = Literal["certain", "by sample", "likely"]
"""How a verdict was found: from addresses alone; by comparing a few elements; from the arguments' types."""

A_MAPPED_FILES: Final = "the memory is a mapped file's"
"""A Copy's reason for shared bytes that no argument holds."""


@dataclass(frozen=True, slots=True)
class Site:
    """The Python line that was running: the innermost line of the user's own code."""

    file: str | Unknown
    line: int | Unknown
    function: str | Unknown
    cell: int | Unknown
    """Number of the notebook cell."""
    text: str
    """The expression in the source; "" if the source is not available."""


@dataclass(frozen=True, slots=True)
class Span:
    """The bytes behind an object."""

    address: Address
    span_bytes: int
    """From the lowest used byte to the highest."""
    logical_bytes: int
    """Number of elements times itemsize; less than span_bytes if strides leave gaps."""
    item_bytes: int
    kind: str
    """NumPy's kind character: b i u f c S U V O m M; "" if the object does not tell."""
    contiguous: Literal["C", "F", "CF", ""]
    read_only: bool

    def overlap_bytes(self, other: Span) -> int:
        """Bytes that both extents have in common, gaps included."""
        low = max(self.address, other.address)
        high = min(self.address + self.span_bytes, other.address + other.span_bytes)
        return max(high - low, 0)


@dataclass(frozen=True, slots=True)
class Value:
    """An argument or a result, as far as a record stores it."""

    type_name: str | Unknown
    text: str
    """At most 24 characters: a number, the beginning of a str, the item count of a container."""
    address: Address | Unknown
    spans: tuple[Span, ...]
    """Its own bytes; for a short list of arrays, the bytes of those arrays."""
    items: int
    """Item count of a list, tuple or dict; 0 for anything else."""
    item_type: str
    """Type of the first item; "" without one."""
    is_shape: bool = False
    """A list or tuple of ints that gives the result's shape: none of its items became an element."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """One C-API function that ran inside a call; equal ones in a row are merged and counted."""

    function: str
    direction: Literal["to native", "to Python", ""]
    result: str
    """Ownership of the returned object: "new", "borrowed"; "scalar" for a C value."""
    format: str
    """The format string of a format call, quoted as in C: "ii"; "" for other functions."""
    values: tuple[str, ...]
    """The C values of the first call, bounded; a format call has one value per format unit."""
    times: int
    failed: int
    module: str | Unknown
    """The extension that called it."""
    ns: int | Unknown
    depth: int
    frames: tuple[Place, ...] = ()
    """The native frames of the call, innermost first; empty if not requested."""
    made_bytes: int = 0
    """Bytes of arrays that NumPy's functions made in new memory."""
    copied_bytes: int = 0
    """Bytes of arrays that they copied."""
    shared_bytes: int = 0
    """Bytes of arrays that they passed on without a copy: views, and arrays that already fitted."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call from Python into native code, with the calls nested in it."""

    name: str
    kind: Literal["method", "vectorcall", "slot", "foreign", "callback", "finalizer"]
    """foreign: a C function called by ctypes or cffi; callback: a Python function called by native code;
    finalizer: an object's finalizer, or a capsule's destructor."""
    callable_type: str | Unknown
    """For a vectorcall the type of the callable; for a method the type it is bound to."""
    site: Site
    times: int
    """How many equal calls of one line were merged; arguments and result are those of the first call."""
    arguments: tuple[Value, ...]
    arguments_left_out: int
    result: Value | Unknown
    failed: int
    thread: int
    ns: int | Unknown
    """Duration of all merged calls together."""
    own_ns: int | Unknown
    """`ns` without the nested calls."""
    conversions: tuple[Conversion, ...]
    calls: tuple[Call, ...]
    macro_reads: int
    """Items of its arguments that no recorded call read: macros read them, which no hook sees."""


@dataclass(frozen=True, slots=True)
class ByteEvidence:
    """What is known about the bytes of the results of equal calls: the input of a verdict."""

    call: Call
    times: int
    same_object: bool
    """The result is one of the arguments."""
    overlaps: bool
    """The result's bytes lie in an argument's memory."""
    sample: Literal["equal", "different", ""]
    """Whether a few elements of the result equal those of an argument; "" if none could be compared."""
    logical_bytes: int
    """Bytes of all the results."""
    span_bytes: int
    allocator: str | Unknown
    was_there: Literal["", "certain", "likely"] = ""
    """The memory was allocated before the call and is not an argument's: something keeps it."""
    shows_file: bool = False
    """The memory is a file that was mapped during the call."""
    written: bool = False
    """The result is an argument, and the call changed its elements."""
    partial: bool = False
    """An argument has more blocks than were recorded, and the memory is not new: it may be an argument's."""
    owned: bool = False
    """The result object itself frees the memory; else another object does, or it is unknown."""
    frames: tuple[Place, ...] = ()
    """The native frames that allocated the memory of one result, innermost first."""

    @property
    def was_filled(self) -> bool:
        """The call wrote another argument's elements into an argument."""
        return self.written and self.sample == "equal"

    @property
    def was_kept(self) -> bool:
        """The call did not make the memory: something kept it since before, or it is a mapped file.

        If that is only likely and an argument has the same elements, the memory counts as new.
        """
        return (
            self.shows_file
            or self.was_there == "certain"
            or (self.was_there == "likely" and self.sample != "equal")
        )


@dataclass(frozen=True, slots=True)
class Copy:
    """What one call did with bytes."""

    verdict: Verdict
    copied_bytes: int
    """Logical bytes of the result that lie in new memory."""
    span_bytes: int
    confidence: Confidence
    reason: str
    avoid: str
    """How to avoid the copy; "" if no way is known."""
    function: str
    times: int
    allocator: str | Unknown
    """The library that allocated the result's memory, and the function it used."""
    source: str
    result: str
    """Type and element kind, in words."""
    site: Site
    frames: tuple[Place, ...] = ()
    """The native frames that allocated the memory, innermost first; empty if not requested."""


STORED: Final = "item assignment"
"""`Loss.function` of what a statement stores into items."""
CONSTRUCTED: Final = "construction"
"""`Loss.function` of numbers that a constructor was given, seen by the array that it made."""
_NARROW: Final = re.compile(
    r"(astype|dtype|\.to|view|asarray|array|cast|tensor|fromiter)\W.*\b(b?float16|[Ff]loat32|half|single|[<>=]?f[24])\b"
    r"|\.(half|float)\(\)|\b(Half|Float)Tensor\("
    r"|array\(\s*['\"]f['\"]|(pack|pack_into|iter_pack)\(\s*['\"][^'\"]*[fe][^'\"]*['\"]"
    r"|\b(fmt|format|float_format|float_precision|double_precision)\s*=\s*['\"\d]"
)
"""A conversion to a float narrower than Python's, or to a text of fewer digits, as it is written."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A conversion that changed elements, found by comparing source and result after it returned."""

    rule: Literal[
        "overflow", "precision", "sign", "fraction", "null", "embedded NUL", "cut", "imaginary", "wrapped"
    ]
    function: str
    before: str
    """The first changed element in the source; `after` is the same element in the result."""
    after: str
    first: int
    """Index of that element, in C order."""
    lost: int
    """How many of the compared elements changed."""
    compared: int
    elements: int
    times: int
    """Equal calls with the same loss."""
    confidence: Literal["certain", "by sample"]
    """certain: every element was compared; by sample: evenly spread ones, and `lost` is a lower bound."""
    site: Site
    largest_error: float = 0.0
    """Of numbers that were only rounded: the largest difference, relative to the number; else 0."""
    others: int = 0
    """Compared elements that the same call changed by other rules, but for rounding."""
    inside: bool = False
    """Whether the values are a library's own: no name of the user's code had them, or got them."""

    is_meant: bool = False
    """Of integers that wrapped around: whether the statement mixes bits, as a hash function does."""

    @property
    def how(self) -> str:
        """What happened to the elements: "changed" or "wrapped around"."""
        return "wrapped around" if self.rule == "wrapped" else "changed"

    @property
    def is_asked_for(self) -> bool:
        """Whether it is the rounding of floats to a narrower type that the statement or the array has, or a
        hash function's arithmetic."""
        if self.is_meant:
            return True
        if self.rule != "precision":
            return False
        is_stored = self.function in (STORED, CONSTRUCTED) and bool({".", "e"} & set(self.before))
        return is_stored or bool(_NARROW.search(self.site.text))


@dataclass(frozen=True, slots=True)
class LossEvidence:
    """What comparing a source with the result found; a loss only if the call is a conversion."""

    loss: Loss
    shows: bool
    """The result holds a changed element that is not 0, empty or False."""
    converts: bool = False
    """The call is a known conversion: a C-API function, an argument of a C function."""
    asked: tuple[str, ...] = ()
    """First str argument of the call, and of calls that return its result: a dispatcher's operation."""
    places: tuple[Range, ...] = ()
    """Where the bytes of the call's arguments and of its result lie, as far as they are recorded."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """One Python line: how often control crossed into native code, and the time the crossings took."""

    site: Site
    calls: int
    conversions: int
    call_ns: int | Unknown
    crossing_ns: int | Unknown
    """Time in C-API conversions, without computing."""


@dataclass(frozen=True, slots=True)
class Released:
    """The GIL was released inside equal calls: for how long, and which threads made records meanwhile."""

    function: str
    """The call that released it; "" outside any recorded call."""
    site: Site
    thread: int
    times: int
    released_ns: int | Unknown
    """From each release to the next request, summed over the calls; without the wait for the GIL."""
    longest_ns: int | Unknown
    meanwhile: dict[int, int]
    """Thread -> its records that began meanwhile. A thread without recorded calls is not seen."""


@dataclass(frozen=True, slots=True)
class Seen:
    """How much of one module the trace could observe."""

    module: str
    functions_hooked: int
    functions_unseen: dict[str, int]
    """Kind -> number of callables that cannot be hooked."""
    imports_hooked: int
    imports: int
    """C-API functions that it imports; macros are not imports and are never seen."""
    pointers_hooked: int = 0
    """Hooked function pointers in its data, through which it calls Python; searched only if requested."""
    pointers_changed: int = 0
    """Of these, pointers that their owner changed while they were hooked; the tool leaves them as is."""
    functions_left_out: int = 0
    """Callables that are not watched because the process has used all its trampolines."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A C-API function whose calls were only counted: no line, values or time."""

    function: str
    module: str
    """The extension that called it."""
    times: int


@dataclass(frozen=True, slots=True)
class Materialized:
    """Data of a lazy object that was materialized: computed, read or expanded."""

    type_name: str
    cause: str
    """The function that materialized it, as far as the library tells."""
    materialized_bytes: int | Unknown
    ns: int | Unknown
    site: Site


@dataclass(frozen=True, slots=True)
class Trace:
    """What happened while the trace was on."""

    calls: tuple[Call, ...]
    calls_left_out: int
    copies: tuple[Copy, ...]
    losses: tuple[Loss, ...] | Unknown
    crossings: tuple[Crossing, ...]
    seen: tuple[Seen, ...]
    events: int
    dropped: int
    wall_ns: int
    grade: str
    materialized: tuple[Materialized, ...] = ()
    """In the order they happened."""
    hosted: Hosted = NOT_HOSTED
    """The C-API calls of the program that embeds Python."""
    finalized: tuple[Call, ...] = ()
    """Finalizers and destructors of capsules that ran outside any recorded call."""
    released: tuple[Released, ...] = ()
    """Where the GIL was released, the longest first."""
    calls_skipped: int = 0
    """Calls from Python that sampling skipped, with everything nested in them."""
    counted: tuple[Counted, ...] | Unknown = ()
    """C-API calls that this grade counts, the most frequent first, including those that sampling skipped."""
