"""The difference of two traces, call by call: more or fewer calls and copied bytes."""

# SPDX-License-Identifier: MIT
from inspector.facts.record import dataclass
from inspector.facts.unknown import Unknown


@dataclass(frozen=True, slots=True)
class CallChange:
    """The calls of one function from one expression, in both traces."""

    function: str
    text: str
    """The expression; "" if the source is not available."""
    calls_before: int
    calls_after: int
    copied_bytes_before: int
    copied_bytes_after: int
    ns_before: int | Unknown
    ns_after: int | Unknown


@dataclass(frozen=True, slots=True)
class TraceDifference:
    """What changed; unchanged calls are only counted."""

    changes: tuple[CallChange, ...]
    """Sorted by the difference in bytes, then in calls, the largest first."""
    same: int
    """Functions and expressions with as many calls and bytes as before."""
    copied_bytes_before: int
    copied_bytes_after: int
    events_before: int
    events_after: int
    wall_ns_before: int
    wall_ns_after: int
