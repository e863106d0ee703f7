"""What a process grew by while it was watched, and which calls asked for it."""

# SPDX-License-Identifier: MIT
from inspector.facts.account import Account, Grown
from inspector.facts.conversion import Site
from inspector.facts.record import dataclass


@dataclass(frozen=True, slots=True)
class GrowthSource:
    """Memory that one line asked for and that is still in use."""

    bytes: int
    """An estimate from the samples, as far as it is resident."""
    samples: int
    site: Site
    """The user's line; the innermost one of Python where no user's is known."""
    library: str
    """File that asked for it; "" for Python itself."""
    allocator: str
    """Function that was asked: malloc, mmap, PyObject_Malloc; MemoryPool is Arrow's."""
    path: tuple[str, ...]
    """Python functions between the line and the allocator, innermost first."""
    native: tuple[str, ...]
    """Native functions below them, innermost first, as library and symbol."""
    quarters: tuple[int, int, int, int]
    """Its bytes by quarter of the time in which they were asked for."""
    beside: bool
    """A thread of C asked: the line is where the main thread was meanwhile."""
    alike_blocks: int = 0
    """Of its samples, those of blocks of the size that has most bytes."""
    alike_bytes: int = 0
    """Asked for with each of those."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The resident set at one moment of a watch."""

    at_ns: int
    """Since the watch began."""
    resident_bytes: int
    label: str
    """The cell after which it was read, "In[5]"; "" for a moment of a clock."""


@dataclass(frozen=True, slots=True)
class Growth:
    """Growth between two moments: by row of the account, and by line, from sampled allocations."""

    resident_bytes: int
    """Change of the resident set."""
    rows: tuple[Grown, ...]
    """Rows of the account that grew; () where it was not asked."""
    sources: tuple[GrowthSource, ...]
    """Most bytes first."""
    sample_bytes: int
    """A block is sampled for each so many bytes, on average; 0: none was (another process, or another block
    took the samples)."""
    dropped: int
    """Samples for which there was no room."""
    watched_ns: int
    moments: tuple[Moment, ...] = ()
    """In order of time; () where only begin and end were read."""
    accounts: tuple[Account, ...] = ()
    """Before and after, the smaller parts of each row as one; () where none was asked."""
