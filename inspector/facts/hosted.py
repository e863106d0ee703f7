"""The C-API calls of a program that embeds Python, in order, with references and errors."""

# SPDX-License-Identifier: MIT
from inspector.facts.amounts import with_article
from inspector.facts.converted import NO_LINES, HostLines
from inspector.facts.record import dataclass
from inspector.facts.unknown import Unknown

CONVERT = ("PyLong_As", "PyFloat_As", "PyUnicode_As", "PyBytes_As", "PyComplex_As", "PyNumber_As")
"""What functions begin with that make C values of objects."""


@dataclass(frozen=True, slots=True)
class HostSite:
    """The line of a host that led to a call: in the file where its thread's own code begins the innermost one
    that only one line leads to, so not one of a function that wraps calls of Python."""

    file: str
    """Path of the source."""
    line: int
    text: str
    inner: str
    """The innermost line of the program's own, "Object.swift:31"; "" if it is the same."""


@dataclass(frozen=True, slots=True)
class HostCall:
    """One C-API call of a host; equal calls in a row are merged and counted."""

    host: str
    """The program or library that called."""
    function: str
    object_type: str | Unknown
    """Full type name of the object that the call received or made."""
    values: tuple[str, ...]
    """The C values, bounded: a number, or text of at most 24 characters."""
    references: int | Unknown
    """Refcount of that object before the call; of an object that the call made, after it."""
    references_after: int | Unknown
    failed: bool
    """The call returned with an exception set."""
    cleared: bool
    """The host only fetched or cleared that exception."""
    without_gil: bool
    """The calling thread did not hold the GIL: the object was not read."""
    lost: str
    """What the conversion lost of the value; "" if no loss is known."""
    times: int
    thread: int
    depth: int
    """How many host calls this call is nested in; 0 at top level."""
    site: HostSite | Unknown = Unknown("not asked for")

    @property
    def refused(self) -> str:
        """ "PyLong_AsLong of a float", where a conversion gave an error that the host cleared; ""."""
        takes = self.function.startswith(CONVERT) and not isinstance(self.object_type, Unknown)
        return f"{self.function} of {with_article(str(self.object_type))}" if takes and self.cleared else ""


@dataclass(frozen=True, slots=True)
class Hosted:
    """All host calls. Without hosts, no program embeds this Python, or only modules were traced."""

    hosts: tuple[str, ...]
    """The programs and libraries that call."""
    calls: tuple[HostCall, ...]
    calls_left_out: int
    """Dropped from the middle. The first and last stay, and all calls that failed, lost or had no GIL."""
    asked: int
    """Number of all calls that were recorded."""
    lines: HostLines = NO_LINES
    """The host's own lines, where they are known."""
    own_lines: tuple[tuple[str, int, int], ...] = ()
    """(path, line, recorded calls) of each line of the program that led to calls, in the source's order."""


NOT_HOSTED = Hosted((), (), 0, 0)
