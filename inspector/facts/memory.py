"""Where bytes are: address ranges in the process's named mappings (/proc/self/maps, proc(5))."""

from __future__ import annotations

from inspector.facts.record import dataclass
from inspector.facts.unknown import Address, Unknown


@dataclass(frozen=True, slots=True)
class Range:
    """Bytes [start, stop) of this process."""

    start: Address
    stop: Address

    @property
    def bytes(self) -> int:
        """Length in bytes."""
        return self.stop - self.start


@dataclass(frozen=True, slots=True)
class Mapping:
    """The mapping that holds a range."""

    kind: str
    """"heap", "stack", "file", "shared file", "shared memory", "anonymous", "vdso"."""
    permissions: str
    """As in maps: "rw-p"."""
    file: str | Unknown
    file_offset_bytes: int
    """Offset in the file of the range's first byte; 0 where there is no file."""
    huge_pages: bool | Unknown
    """Whether the page of the range's middle byte is a huge one: transparent, or of hugetlbfs."""
    range: Range
