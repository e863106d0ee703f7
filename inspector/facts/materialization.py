"""Is the data there? An object as a stack of layers, each with four answers, and byte counts that add up.

The words are those of docs/reference/materialization.md; views print no other word for a state.
"""

# SPDX-License-Identifier: MIT
from typing import Final, Literal, get_args

from inspector.facts.finding import Finding
from inspector.facts.memory import Range
from inspector.facts.record import dataclass
from inspector.facts.unknown import Unknown

Value = Literal["computed", "lazy", "partial", "abstract", "pending", "consumed", "closed"]
"""Do the elements exist? lazy: only a recipe; abstract: they never will; consumed: used up; closed: freed."""

Storage = Literal[
    "heap", "inline", "file-mapped", "shared-memory", "device", "remote/on disk", "none"
]  # fmt: skip
"""Where are the bytes? inline: in the object's own C struct."""

Title = Literal["owned", "view", "foreign", "cow", "borrowed"]
"""Who frees them? view: its base; foreign: another library's object; cow: shared until the first write;
borrowed: nothing keeps them alive."""

Residence = Literal["resident", "zero-page", "reserved", "swapped", "page cache only"]
"""Are the pages in memory? zero-page: read, never written; reserved: never touched."""

State = Literal[
    "owned",
    "view",
    "shared-foreign",
    "unowned",
    "borrowed",
    "copy-on-write pending",
    "lazy",
    "pending",
    "partially materialized",
    "virtual",
    "reserved-not-resident",
    "zero-page",
    "memory-mapped",
    "on device",
    "abstract",
    "consumed",
    "closed",
    "freed",
]
"""The one word for the whole object (docs/reference/materialization.md#states)."""

STATES: Final[tuple[str, ...]] = get_args(State)
AXES: Final[dict[str, tuple[str, ...]]] = {
    "value": get_args(Value),
    "storage": get_args(Storage),
    "title": get_args(Title),
    "residency": get_args(Residence),
}
"""Axis -> its words."""

Level = Literal["wrapper", "container", "buffer", "pages"]
"""From the user's object down to the memory."""

Source = Literal["type", "attribute", "field", "address", "system call"]
"""How a fact was found; field: read from the C struct, nothing is called."""

NOT_RECORDED: Final = Unknown("nobody recorded it")
NO_BYTES: Final = Unknown("it has no bytes in this process")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was read, and its value."""

    source: Source
    place: str
    """"x.base", "PyArray_FLAGS", "PAGEMAP_SCAN"."""
    says: str


@dataclass(frozen=True, slots=True)
class Residency:
    """The pages of some bytes: each byte is counted in exactly one of the six amounts."""

    state: Residence
    """The word for the largest amount; "resident" for a tie."""
    private_bytes: int
    """In memory, private to this process."""
    zero_page_bytes: int
    """Read and never written: they all map to the kernel's shared zero page."""
    file_bytes: int
    """In memory, file pages."""
    shared_bytes: int
    """In memory, shared with other processes: shared memory, or with a forked child until a write."""
    swapped_bytes: int
    absent_bytes: int
    """Address space without a page behind it."""
    huge_bytes: int
    """Of all these, bytes in huge pages (2 MB or more)."""
    page_bytes: int
    way: Literal["PAGEMAP_SCAN", "pagemap", "smaps"]
    strip: str
    """The pages in order as a row of letters, each the most frequent of its part: p(rivate), z(ero),
    f(ile), s(hared), w (swapped), "." absent."""

    @property
    def span_bytes(self) -> int:
        """All examined bytes: the sum of the six amounts."""
        return self.resident_bytes + self.zero_page_bytes + self.swapped_bytes + self.absent_bytes

    @property
    def resident_bytes(self) -> int:
        """Bytes in memory, without the zero page."""
        return self.private_bytes + self.file_bytes + self.shared_bytes


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of the stack, and its answers to the four questions."""

    level: Level
    what: str
    """"Series", "block float64 (3, 4), 2 holders", "memmap prices.bin +4096"."""
    value: Value | Unknown = "computed"
    storage: Storage | Unknown = "heap"
    title: Title | Unknown = "owned"
    evidence: tuple[Evidence, ...] = ()
    would: tuple[str, ...] = ()
    """What would materialize it, or copy it: "collect()", "a write"."""
    would_not: tuple[str, ...] = ()
    """What would not, contrary to expectation: "repr", "len"."""
    spans: tuple[Range, ...] = ()
    """Where its bytes are."""
    depth: int = 0
    """Nesting depth: the parts of a container are one level deeper."""
    residency: Residency | Unknown = NO_BYTES
    """Residency of its spans; the probe fills it, never an adapter."""


OBJECTS = "objects"


@dataclass(frozen=True, slots=True)
class KeptPart:
    """Bytes that an object keeps and does not show."""

    what: str
    """"objects" (of Python), the full name of a type, "gradient", "hash table of pandas"."""
    bytes: int
    count: int
    """How many of them."""


@dataclass(frozen=True, slots=True)
class Materialization:
    """Whether the data exists: layers, pages, bytes that add up, dangers."""

    state: State | Unknown
    layers: tuple[Layer, ...]
    """From the wrapper down to the pages."""
    layers_left_out: int
    logical_bytes: int | Unknown
    """Bytes of all elements, whether they exist or not: the value of `nbytes`."""
    retained_bytes: int | Unknown
    """Bytes it keeps alive, its bases included."""
    span_bytes: int | Unknown
    """Address space of its bytes, each byte once: the sum of the six amounts below."""
    private_bytes: int | Unknown
    zero_page_bytes: int | Unknown
    file_bytes: int | Unknown
    shared_bytes: int | Unknown
    swapped_bytes: int | Unknown
    absent_bytes: int | Unknown
    resident_bytes: int | Unknown
    """private + file + shared."""
    resident_fraction: float | Unknown
    """resident_bytes / span_bytes."""
    waits_for: str
    """What must happen before the elements exist: "compute() of 12 tasks"; "" if nothing."""
    materialized_by: str | Unknown
    """The call that materialized the elements: "np.sort, cell 4, 800 kB, 34 µs"."""
    findings: tuple[Finding, ...]
    in_words: str = ""
    """One sentence of the adapter on the object's state, where no other fact says it; "" for none."""
    mostly: tuple[KeptPart, ...] = ()
    """What most of the bytes are that it keeps and does not show; at most one, () where nobody looked."""
