"""Writes to an object's memory: who, when, from what to what."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.facts.record import dataclass
from inspector.facts.stack import Stack
from inspector.facts.unknown import Address


@dataclass(frozen=True, slots=True)
class Write:
    """One instruction that wrote to a watched word."""

    number: int
    """From 1, in the order of the writes."""
    at_ns: int
    """CLOCK_MONOTONIC (clock_gettime(2))."""
    offset: int
    """Of the word in what is watched, in bytes."""
    before: str
    """The word's value before, as the type of the elements has it; else as hex."""
    after: str
    stack: Stack


@dataclass(frozen=True, slots=True)
class Writes:
    """The column `writes`."""

    watched: str
    """What is watched: "bytes", "refcount", ".attr"."""
    address: Address
    watched_bytes: int
    means: str
    """How: "4 hardware watchpoints, 56 events"."""
    writes: tuple[Write, ...]
    counted: int
    """Writes in all, recorded or not."""
    silent: bool
    """True where the bytes changed without a write that was seen: the operating system did it (read(2))."""

    def __iter__(self) -> Iterator[Write]:
        return iter(self.writes)

    def __len__(self) -> int:
        return len(self.writes)
