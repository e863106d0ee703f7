"""What a dead process left behind: stacks in a core file, the last conversions in a trace's rings."""

# SPDX-License-Identifier: MIT
from inspector.facts.record import dataclass
from inspector.facts.stack import Stacks
from inspector.facts.unknown import Address, Unknown


@dataclass(frozen=True, slots=True)
class LastCall:
    """A call that had returned when the process died."""

    thread_id: int
    """threading.get_ident()."""
    function: str
    direction: str
    """"to native", "to Python"; "" for a function of a module."""
    value: str
    """The C value; "" if there is none."""
    before_ns: int
    """How long it began before the last record of the process."""


@dataclass(frozen=True, slots=True)
class Crash:
    """What a crashed process left: signal, place, stacks, its last calls."""

    pid: int
    program: str | Unknown
    signal: str | Unknown
    """"SIGSEGV"; unknown without a core file."""
    fault: Address | Unknown
    """The address that could not be read or written."""
    thread_id: int | Unknown
    """The thread that crashed."""
    place: str | Unknown
    """The function that crashed, "name (library)"."""
    stacks: Stacks | Unknown
    last: tuple[LastCall, ...] | Unknown
    """The last calls of all threads, the oldest first."""
    recorded: int
    """Calls in the rings, shown or not."""
    sources: tuple[str, ...]
    """The files that were read."""
