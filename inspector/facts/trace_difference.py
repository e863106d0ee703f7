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
class LineChange:
    """A statement of the user's code whose verdict or copied bytes differ."""

    file: str
    line: int
    """In the later trace; in the earlier one if the statement is gone."""
    text_before: str
    """"" if the statement is new."""
    text_after: str
    """"" if the statement is gone."""
    verdict_before: str
    verdict_after: str
    copied_bytes_before: int
    """Copies of libraries on the way included."""
    copied_bytes_after: int


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
    lines: tuple[LineChange, ...] = ()
    """Sorted by the difference in copied bytes, the largest first."""
    lines_copied_before: int = 0
    """Bytes that all statements copied, with copies of libraries on the way; of all calls where no statement
    is known."""
    lines_copied_after: int = 0
