"""Lines of a program in another language that hands values to Python and back: what crossed in each."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import Literal

from inspector.facts.record import dataclass
from inspector.facts.unknown import Unknown

How = Literal["one by one", "one block", "shared", "wrapped", "single"]
"""one by one: an object for each element; one block: copied as a whole; shared: the same bytes; wrapped: a
reference to the other side's object; single: one value."""


@dataclass(frozen=True, slots=True)
class HostSide:
    """A value on one side."""

    kind: str
    """In that side's words: "numeric", "list", "numpy.ndarray int64"."""
    length: int
    bytes: int | Unknown
    """Of the value with its elements."""
    items: str = ""
    """Type of a list's or tuple's items, if they have one: "float"."""


@dataclass(frozen=True, slots=True)
class ValueChange:
    """What a conversion lost, seen by comparing both sides."""

    what: Literal["NA", "value", "names", "items", "keys", "attributes", "text"]
    where: str
    """A column's or an item's name; "" for the value itself."""
    lost: int
    elements: int
    first: int
    """Position of the first one, from 1; 0 where it is about the whole."""
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Converted:
    """Equal conversions of one line."""

    to_python: bool
    name: str
    """Of the column; "" if it has none."""
    given: HostSide
    became: HostSide
    how: How
    changes: tuple[ValueChange, ...]
    compared: bool
    """Whether all elements of both sides were compared."""
    calls: int
    """Calls of Python's C API, of all times together."""
    ns: int
    times: int
    made_bytes: int = 0
    """Bytes of what they became, of all times together; 0 where they are not known."""


@dataclass(frozen=True, slots=True)
class HostPlace:
    """A line of the host's source."""

    file: str
    line: int
    last_line: int
    text: str


@dataclass(frozen=True, slots=True)
class HostLine:
    """A line of the host's source that made values cross."""

    statement: HostPlace
    """The statement at top level."""
    inside: HostPlace
    """The line within a function that the statement called; the statement itself at top level."""
    function: str
    """That function; "" at top level."""
    called: str
    """The function of the bridge that the line called: "r_to_py"."""
    whole: str
    """What was given as a whole, where its parts crossed one by one: "data.frame"; "" otherwise."""
    conversions: tuple[Converted, ...]


@dataclass(frozen=True, slots=True)
class HostLines:
    """All lines of a host, in the order of its source."""

    language: str
    """"R"; "" if the host's lines are not known."""
    lines: tuple[HostLine, ...]
    startup_ns: int | Unknown
    """Until Python and the bridge were ready: the host's own start, packages, Python's start, imports."""
    startup_conversions: int
    python: str
    """Version of Python."""


NO_LINES = HostLines("", (), Unknown("no host was traced"), 0, "")
