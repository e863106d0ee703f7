"""Two traces, call by call: what the later one calls and copies more, or less."""

from __future__ import annotations

from inspector.facts.record import dataclass
from inspector.facts.unknown import Unknown


@dataclass(frozen=True, slots=True)
class CallChange:
    """Calls of one function from one expression, in both traces."""

    function: str
    text: str
    """The expression; "" where the source could not be had."""
    calls_before: int
    calls_after: int
    copied_bytes_before: int
    copied_bytes_after: int
    ns_before: int | Unknown
    ns_after: int | Unknown


@dataclass(frozen=True, slots=True)
class TraceDifference:
    """How two traces differ: functions that are called or copy more, or less."""

    changes: tuple[CallChange, ...]
    """The largest difference in bytes first, then in calls."""
    same: int
    """Functions and expressions with as many calls and bytes as before."""
    copied_bytes_before: int
    copied_bytes_after: int
    events_before: int
    events_after: int
    wall_ns_before: int
    wall_ns_after: int
