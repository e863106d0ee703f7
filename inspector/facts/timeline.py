"""A trace in time: boxes of a window, those too narrow to be seen merged and counted."""

from __future__ import annotations

from inspector.facts.record import dataclass


@dataclass(frozen=True, slots=True)
class Box:
    """One call or conversion, or several that are too short to be told apart."""

    start_ns: int
    """Since the first timed event."""
    duration_ns: int
    depth: int
    name: str
    """Of the longest, where it is several."""
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
    """Of them, those that share a box."""
    left_out: int
    """Of them, those that no box was left for."""
    untimed: int
    """Of the whole trace: for these no clock was read."""
