"""A time window of a trace as boxes; boxes too narrow to draw are merged and counted."""

# SPDX-License-Identifier: MIT
from inspector.facts.record import dataclass


@dataclass(frozen=True, slots=True)
class Box:
    """One call or conversion, or several that are too short to draw apart."""

    start_ns: int
    """Since the first timed event."""
    duration_ns: int
    depth: int
    name: str
    """Name of the call; of the longest if several are merged."""
    times: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """A window of a trace."""

    begin_ns: int
    end_ns: int
    whole_ns: int
    """From the first timed event to the end of the last."""
    boxes: tuple[Box, ...]
    events: int
    """Timed events in the window."""
    merged: int
    """Of these, events that share a box."""
    left_out: int
    """Of these, events without a box because of the bound."""
    untimed: int
    """Events of the whole trace without a time: the clock was not read for them."""
