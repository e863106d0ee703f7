"""Is the data there? An object as a stack of layers, each with four answers, and bytes that add up.

The words are the vocabulary of docs/reference/materialization.md; no other word for a state may be printed.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

from inspector.facts.finding import Finding
from inspector.facts.memory import Range
from inspector.facts.record import dataclass
from inspector.facts.unknown import Unknown

Value = Literal["computed", "lazy", "partial", "abstract", "pending", "consumed", "closed"]
"""Do the elements exist? lazy: recipe only; abstract: never will; consumed: gone by use; closed: freed."""

Storage = Literal[
    "heap", "inline", "file-mapped", "shared-memory", "device", "remote/on disk", "none"
]  # fmt: skip
"""Where are the bytes? inline: in the object's own struct."""

Title = Literal["owned", "view", "foreign", "cow", "borrowed"]
"""Who frees them? view: its base; foreign: another library's object; cow: shared until the first write;
borrowed: nobody keeps them alive."""

Residence = Literal["resident", "zero-page", "reserved", "swapped", "page cache only"]
"""Are the pages there? zero-page: read, never written; reserved: never touched."""

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
"""From the object the user holds down to the memory."""

Source = Literal["type", "attribute", "field", "address", "system call"]
"""How something was learned; field: read from the C struct, nothing called."""

NOT_RECORDED: Final = Unknown("nobody recorded it")
NO_BYTES: Final = Unknown("it has no bytes in this process")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was looked at, and what it said."""

    source: Source
    place: str
    """"x.base", "PyArray_FLAGS", "PAGEMAP_SCAN"."""
    says: str


@dataclass(frozen=True, slots=True)
class Residency:
    """The pages of some bytes: every byte is counted in exactly one of the six amounts."""

    state: Residence
    """The most telling word: of the largest amount; "resident" where they are equal."""
    private_bytes: int
    """In memory, this process's own."""
    zero_page_bytes: int
    """Read and never written: all of them the kernel's one page of zeros."""
    file_bytes: int
    """In memory, pages of a file."""
    shared_bytes: int
    """In memory, shared with other processes: shared memory, or a forked child's until a write."""
    swapped_bytes: int
    absent_bytes: int
    """Address space without pages."""
    huge_bytes: int
    """Of these, in pages of 2 MB and more."""
    page_bytes: int
    way: Literal["PAGEMAP_SCAN", "pagemap", "smaps"]
    strip: str
    """The pages in order as a row of letters, the most frequent of each part: p(rivate), z(ero),
    f(ile), s(hared), w (swapped), "." absent."""

    @property
    def span_bytes(self) -> int:
        """All bytes looked at: the sum of the six amounts."""
        return self.resident_bytes + self.zero_page_bytes + self.swapped_bytes + self.absent_bytes

    @property
    def resident_bytes(self) -> int:
        """In memory, without the page of zeros."""
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
    """What would not, though one might think so: "repr", "len"."""
    spans: tuple[Range, ...] = ()
    """Where its bytes are, if it is they that lie there."""
    depth: int = 0
    """How far it is indented under the layers before it: parts of a container are one deeper."""
    residency: Residency | Unknown = NO_BYTES
    """Of its spans; asked by the probe, never by an adapter."""


@dataclass(frozen=True, slots=True)
class Materialization:
    """Whether the data exists: layers, pages, bytes that add up, dangers."""

    state: State | Unknown
    layers: tuple[Layer, ...]
    """From the wrapper down to the pages."""
    layers_left_out: int
    logical_bytes: int | Unknown
    """Of all elements, whether they exist or not: what `nbytes` would say."""
    retained_bytes: int | Unknown
    """What it keeps alive, its bases included."""
    span_bytes: int | Unknown
    """Address space of its bytes, each byte once. The sum of the six amounts that follow."""
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
    """What has to happen before the elements exist: "compute() of 12 tasks"; "" where nothing."""
    materialized_by: str | Unknown
    """Who made the elements exist: "np.sort, cell 4, 800 kB, 34 µs"."""
    findings: tuple[Finding, ...]
