"""Where bytes are: address ranges in the process's named mappings (/proc/self/maps, proc(5))."""

# SPDX-License-Identifier: MIT
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
    """File offset of the range's first byte; 0 if there is no file."""
    huge_pages: bool | Unknown
    """Whether the range's middle byte lies in a huge page (transparent, or of hugetlbfs)."""
    range: Range
