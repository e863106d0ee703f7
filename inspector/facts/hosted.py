"""What a program that embeds Python asked of it: its C-API calls, in order, with references and errors."""

from __future__ import annotations

from inspector.facts.record import dataclass
from inspector.facts.unknown import Unknown


@dataclass(frozen=True, slots=True)
class HostCall:
    """One C-API call of a host; those in a row that are alike are one, counted."""

    host: str
    """The program, or the library, that called."""
    function: str
    object_type: str | Unknown
    """Full name of the type of the object that it was about, or that it made."""
    values: tuple[str, ...]
    """The C values, bounded: a number, a text of at most 24 characters."""
    references: int | Unknown
    """Of that object before the call; of one that the call made, after it."""
    references_after: int | Unknown
    failed: bool
    """It returned with an exception set."""
    cleared: bool
    """The host asked no more of that exception than to take or clear it."""
    without_gil: bool
    """Its thread did not hold the GIL: nothing was looked at."""
    lost: str
    """What of the value the conversion did not keep; "" where nothing is known to be lost."""
    times: int
    thread: int
    depth: int
    """Host calls that this one is nested in: 0 is the program's own."""


@dataclass(frozen=True, slots=True)
class Hosted:
    """What a program that embeds Python asked of it, call by call, in order."""

    hosts: tuple[str, ...]
    """The programs and libraries that call."""
    calls: tuple[HostCall, ...]
    calls_left_out: int
    """Of the middle: the first and the last are kept, and every call that failed, lost or had no GIL."""
    asked: int
    """Calls in all."""


NOT_HOSTED = Hosted((), (), 0, 0)
