"""An object of another process as its memory shows it, and where that process spends its time."""

from __future__ import annotations

from inspector.facts.record import dataclass
from inspector.facts.stack import Stack
from inspector.facts.unknown import Address, ImmortalType, Unknown


@dataclass(frozen=True, slots=True)
class Entry:
    """One item, attribute or global of the object."""

    key: str
    """"[3]", "['k']", ".attr"."""
    value: str | Unknown
    """Type and bounded value."""


@dataclass(frozen=True, slots=True)
class Remote:
    """An object of another process, read from outside: nothing was run there."""

    pid: int
    program: str
    python: str
    """"3.12"."""
    expression: str
    address: Address
    """In the other process."""
    references: int | ImmortalType
    """The count as it stands there."""
    value: str | Unknown
    """Type and bounded value."""
    details: tuple[tuple[str, str], ...]
    """(name, text) of what the layout of its type tells more, such as an ndarray's strides."""
    entries: tuple[Entry, ...]
    more: int
    """Entries that were not read."""
    stopped_ns: int | Unknown
    """How long the process stood still; unknown where it ran on meanwhile."""
    global_name: str = ""
    """The global that the expression goes through first; "" for a module or a builtin."""
    modules: tuple[str, ...] = ()
    """The modules whose global it is: first the one that was asked, then those with the same object."""
    namesakes: tuple[str, ...] = ()
    """Modules that have another object under that name."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """One stack that was seen, and how often."""

    samples: int
    stack: Stack


@dataclass(frozen=True, slots=True)
class Samples:
    """The stacks of another process, read again and again."""

    pid: int
    program: str
    seconds: float
    rounds: int
    unread: int
    """Looks at a thread that gave no stack: it changed while it was read."""
    stacks: tuple[Sampled, ...]
    """Of all threads, the most frequent first."""
    instead: str = ""
    """Why it was not traced from inside, when that was asked for."""
