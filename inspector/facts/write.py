"""Writes to an object's memory: where, when, old and new value."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator

from inspector.facts.record import dataclass
from inspector.facts.stack import Stack
from inspector.facts.unknown import Address, Unknown


@dataclass(frozen=True, slots=True)
class Write:
    """One instruction that wrote to the watched bytes, or several that wrote adjacent bytes in one pass."""

    number: int
    """From 1, in the order of the writes."""
    at_ns: int
    """CLOCK_MONOTONIC (clock_gettime(2))."""
    offset: int
    """Offset in bytes of the first written word or element in the watched bytes."""
    written_bytes: int
    """Bytes from there to the last written byte; if that is unknown, to the last changed byte."""
    stores: int
    """Instructions: 1, or those of one pass (`memcpy`); a repeated one (`rep movsb`) counts once."""
    before: str
    """The first value before the write, printed by the element type; else as hex."""
    after: str
    stack: Stack


@dataclass(frozen=True, slots=True)
class Writes:
    """The writes to a range of memory, each with its value and both stacks."""

    watched: str
    """The watched target: "bytes", "refcount", ".attr"."""
    address: Address
    watched_bytes: int
    means: str
    """The mechanism: "4 hardware watchpoints, 56 events"."""
    writes: tuple[Write, ...]
    counted: int
    """All writing instructions, recorded or not."""
    beside: int
    """Instructions that wrote to the same pages but outside the watched bytes; 0 for watchpoints."""
    ended: bool
    """True if the budget ended the watch before the block ended: later writes were not seen."""
    silent: bool | Unknown
    """True if the bytes changed without a recorded write: the kernel wrote them (read(2)), or another thread
    did while a page was unprotected for a single step."""

    def __iter__(self) -> Iterator[Write]:
        return iter(self.writes)

    def __len__(self) -> int:
        return len(self.writes)
