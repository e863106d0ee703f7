"""Writes to an object's memory: who, when, from what to what."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.facts.record import dataclass
from inspector.facts.stack import Stack
from inspector.facts.unknown import Address, Unknown


@dataclass(frozen=True, slots=True)
class Write:
    """One instruction that wrote to what is watched, or one pass of instructions over neighbouring bytes."""

    number: int
    """From 1, in the order of the writes."""
    at_ns: int
    """CLOCK_MONOTONIC (clock_gettime(2))."""
    offset: int
    """Of the first word or element written, in what is watched, in bytes."""
    written_bytes: int
    """From there to the last byte that was written, as far as it is known: to the last that changed."""
    stores: int
    """Instructions that did it: 1, or those of one pass (`memcpy`); a repeated one (`rep movsb`) is one."""
    before: str
    """The first value before, as the type of the elements has it; else as hex."""
    after: str
    stack: Stack


@dataclass(frozen=True, slots=True)
class Writes:
    """The writes to a range of memory, each with its value and both stacks."""

    watched: str
    """What is watched: "bytes", "refcount", ".attr"."""
    address: Address
    watched_bytes: int
    means: str
    """How: "4 hardware watchpoints, 56 events"."""
    writes: tuple[Write, ...]
    counted: int
    """Instructions that wrote, recorded or not."""
    beside: int
    """Instructions that wrote to the same pages, beside what is watched; 0 for watchpoints."""
    ended: bool
    """True where the budget ended the watch before the block did: later writes were not seen."""
    silent: bool | Unknown
    """True where the bytes changed without a write that was seen: the operating system did it (read(2)), or
    another thread while a page was open for one."""

    def __iter__(self) -> Iterator[Write]:
        return iter(self.writes)

    def __len__(self) -> int:
        return len(self.writes)
