"""A trace as facts: calls into native code, the conversions they ran, what was copied, lost or shared."""

from __future__ import annotations

from typing import Final, Literal

from inspector.facts.hosted import NOT_HOSTED, Hosted
from inspector.facts.native import Place
from inspector.facts.record import dataclass
from inspector.facts.unknown import Address, Unknown

Verdict = Literal["copied", "computed", "made", "shared", "in place"]
"""Of the bytes behind a call's result: an argument's values in fresh memory; other values in fresh memory;
fresh memory without an argument that has bytes; memory that was there before the call, an argument's or one
that something else keeps; the argument itself."""

Confidence = Literal["certain", "by sample", "likely"]
"""Read from addresses alone; from a few elements compared; from what the function was given."""

A_MAPPED_FILES: Final = "the memory is a mapped file's"
"""Why bytes are shared that no argument holds: a Copy's reason, whoever found it."""


@dataclass(frozen=True, slots=True)
class Site:
    """The Python line that was running: the innermost of the user's own code."""

    file: str | Unknown
    line: int | Unknown
    function: str | Unknown
    cell: int | Unknown
    """Number of the notebook cell."""
    text: str
    """The expression as it is written there; "" where the source cannot be had."""


@dataclass(frozen=True, slots=True)
class Span:
    """The bytes behind an object."""

    address: Address
    span_bytes: int
    """From the lowest byte used to the highest."""
    logical_bytes: int
    """Elements times their size; less than span_bytes where strides leave gaps."""
    item_bytes: int
    kind: str
    """NumPy's letter: b i u f c S U V O m M; "" where the object does not say."""
    contiguous: Literal["C", "F", "CF", ""]
    read_only: bool

    def overlap_bytes(self, other: Span) -> int:
        """Bytes from the lowest to the highest that both extents have in common."""
        low = max(self.address, other.address)
        high = min(self.address + self.span_bytes, other.address + other.span_bytes)
        return max(high - low, 0)


@dataclass(frozen=True, slots=True)
class Value:
    """An argument or a result, as far as a record holds it."""

    type_name: str | Unknown
    text: str
    """At most 24 characters: a number, the beginning of a text, the item count of a container."""
    address: Address | Unknown
    spans: tuple[Span, ...]
    """Its own bytes, or those of the arrays in a short list of arrays."""
    items: int
    """Of a list, tuple or dict; 0 for anything else."""
    item_type: str
    """Type of the first item; "" without one."""
    is_shape: bool = False
    """A list or tuple of ints that says how long the result's axes are: no element came from it."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """One C-API function that ran inside a call; like ones in a row are one, counted."""

    function: str
    direction: Literal["to native", "to Python", ""]
    result: str
    """"new", "borrowed", "scalar": who owns what it returned."""
    format: str
    """Of a format call, quoted as in C: "ii"; "" for the others."""
    values: tuple[str, ...]
    """The C values of the first, bounded; a format call has one a letter."""
    times: int
    failed: int
    module: str | Unknown
    """The extension that called it."""
    ns: int | Unknown
    depth: int
    frames: tuple[Place, ...] = ()
    """The native frames it was called through, innermost first; empty where they were not asked for."""
    made_bytes: int = 0
    """Of arrays that NumPy's functions made, in fresh memory."""
    copied_bytes: int = 0
    """Of arrays that they copied."""
    shared_bytes: int = 0
    """Of arrays that they handed on without a copy: views, and what fitted as it was."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call from Python into native code, with what nested in it."""

    name: str
    kind: Literal["method", "vectorcall", "slot", "foreign", "callback", "finalizer"]
    """foreign: a C function called by ctypes or cffi; callback: a Python function that native code called;
    finalizer: of an object, or a capsule's destructor."""
    callable_type: str | Unknown
    """Type of what was called, for a vectorcall; of what a method is bound to."""
    site: Site
    times: int
    """Calls that are alike, of one line in like calls; arguments and result are the first one's."""
    arguments: tuple[Value, ...]
    arguments_left_out: int
    result: Value | Unknown
    failed: int
    thread: int
    ns: int | Unknown
    """Of all of them."""
    own_ns: int | Unknown
    """Without the calls that nested in them."""
    conversions: tuple[Conversion, ...]
    calls: tuple[Call, ...]
    macro_reads: int
    """Items of its arguments that no recorded call read: read by macros, which no tool sees."""


@dataclass(frozen=True, slots=True)
class ByteEvidence:
    """What is known about the bytes behind the results of like calls: a verdict is made of it."""

    call: Call
    times: int
    same_object: bool
    """The result is one of the arguments."""
    overlaps: bool
    """The result's bytes lie in an argument's."""
    sample: Literal["equal", "different", ""]
    """Whether a few elements of the result were those of an argument; "" where none could be compared."""
    logical_bytes: int
    """Of all the results."""
    span_bytes: int
    allocator: str | Unknown
    was_there: Literal["", "certain", "likely"] = ""
    """The memory was given before the call, and is not an argument's: something keeps it."""
    shows_file: bool = False
    """The memory is a file's that was mapped meanwhile."""
    written: bool = False
    """Elements of the argument that it is were others before the call."""
    partial: bool = False
    """An argument has more blocks than were told, and the memory is no new one: it may be an argument's."""
    owned: bool = False
    """The result's own object frees the memory; else another one does, or nobody can tell."""
    frames: tuple[Place, ...] = ()
    """The native frames through which the memory was asked for, innermost first, of one result."""

    @property
    def was_filled(self) -> bool:
        """Another argument's elements were written into an argument."""
        return self.written and self.sample == "equal"

    @property
    def was_kept(self) -> bool:
        """The bytes are not the call's: something kept the memory since before, or it is a mapped file's.

        Where that is only likely and an argument has the same elements, the memory is new.
        """
        return (
            self.shows_file
            or self.was_there == "certain"
            or (self.was_there == "likely" and self.sample != "equal")
        )


@dataclass(frozen=True, slots=True)
class Copy:
    """What became of bytes at one call."""

    verdict: Verdict
    copied_bytes: int
    """Logical bytes of the result that lie in fresh memory."""
    span_bytes: int
    confidence: Confidence
    reason: str
    avoid: str
    """What would save the copy; "" where nothing is known to."""
    function: str
    times: int
    allocator: str | Unknown
    """Library that asked for the result's memory, and through which function."""
    source: str
    result: str
    """Type and element kind, in words."""
    site: Site
    frames: tuple[Place, ...] = ()
    """The native frames that asked for the memory, innermost first; empty where they were not asked for."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A conversion that did not keep every element, found by comparing source and result when it was over."""

    rule: Literal["overflow", "precision", "sign", "fraction", "null", "embedded NUL", "cut"]
    function: str
    before: str
    """The first element that was not kept, in the source and in the result."""
    after: str
    first: int
    """Its number, in C order."""
    lost: int
    """Elements not kept, of those compared."""
    compared: int
    elements: int
    times: int
    """Calls that are alike and lost the same."""
    confidence: Literal["certain", "by sample"]
    """Every element was compared; some, evenly spread: `lost` is then the least."""
    site: Site


@dataclass(frozen=True, slots=True)
class LossEvidence:
    """What comparing a source with the result found: a loss, if the call converts at all."""

    loss: Loss
    shows: bool
    """An element that was not kept is there in the result, changed: not 0, nothing or False."""
    converts: bool = False
    """The call is known to convert: a function of the C API, an argument of a C function."""
    asked: tuple[str, ...] = ()
    """Texts that came first to the call, or to one that hands its result on: what a dispatcher is to do."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """One Python line: how often control crossed, and the time that crossing itself took."""

    site: Site
    calls: int
    conversions: int
    call_ns: int | Unknown
    crossing_ns: int | Unknown
    """In C-API conversions, not in computing."""


@dataclass(frozen=True, slots=True)
class Released:
    """The GIL was released inside like calls: for how long, and which threads crossed meanwhile."""

    function: str
    """The call that released it; "" outside any recorded call."""
    site: Site
    thread: int
    times: int
    released_ns: int | Unknown
    """From giving it up until asking for it again, of all of them; waiting for it is not in it."""
    longest_ns: int | Unknown
    meanwhile: dict[int, int]
    """Thread -> its records that began in between; one that crosses no border is not known."""


@dataclass(frozen=True, slots=True)
class Seen:
    """How much of one module a trace could see."""

    module: str
    functions_hooked: int
    functions_unseen: dict[str, int]
    """Kind -> how many callables no hook can see."""
    imports_hooked: int
    imports: int
    """C-API functions that it imports; macros are no imports and never seen."""
    pointers_hooked: int = 0
    """Words of its own data through which it calls Python, where the trace was to look for them."""
    pointers_changed: int = 0
    """Of these, changed by their owner while they were hooked, and so left alone."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A function of the C API whose calls were counted, and not recorded: without line, values or time."""

    function: str
    module: str
    """The extension that called it."""
    times: int


@dataclass(frozen=True, slots=True)
class Materialized:
    """Data that came to be: computed, read or expanded where an object had only promised it."""

    type_name: str
    cause: str
    """The function that made it so, as far as the library tells."""
    materialized_bytes: int | Unknown
    ns: int | Unknown
    site: Site


@dataclass(frozen=True, slots=True)
class Trace:
    """What happened between arming and disarming."""

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
    """What the program that embeds Python asked of it."""
    finalized: tuple[Call, ...] = ()
    """Finalizers and destructors of capsules that ran outside any recorded call."""
    released: tuple[Released, ...] = ()
    """Where the GIL was given up, the longest first."""
    calls_skipped: int = 0
    """Calls from Python that a sample left out, with all in them."""
    counted: tuple[Counted, ...] | Unknown = ()
    """Calls of the C API that the grade counts, the most frequent first; of all calls, also those of a sample
    that were left out."""
