"""Tables for the numbers in records, besides types and lines: names of calls, libraries of import slots."""

# SPDX-License-Identifier: MIT
from dataclasses import dataclass, field

from inspector.facts.conversion import Counted, Seen
from inspector.facts.unknown import Unknown


@dataclass(slots=True)
class Tables:
    """One trace's tables, from a living process or from files."""

    names: dict[int, str] = field(default_factory=dict)
    """Patched place -> name of the call."""
    modules: dict[int, str] = field(default_factory=dict)
    """Patched place -> module it belongs to."""
    import_modules: dict[int, str] = field(default_factory=dict)
    """Import slot -> extension that it belongs to."""
    hosts: dict[int, str] = field(default_factory=dict)
    """Import slot of a host that embeds Python -> function that it calls through it."""
    constants: dict[int, str] = field(default_factory=dict)
    """Address of a C text -> its special meaning to a host."""
    hooked_imports: int = 0
    seen: tuple[Seen, ...] = ()
    counted: tuple[Counted, ...] | Unknown = ()
    """Calls of the C API so far that are counted and not recorded."""
    askers: dict[int, str] = field(default_factory=dict)
    """Import slot -> library that allocates memory through it."""
    givers: tuple[str, ...] = ()
    """Functions that allocate memory, by the number in a record; empty: none is hooked."""


def library_of(path: str) -> str:
    """The library's short name from its path, as "_multiarray_umath"."""
    return path.rpartition("/")[2].partition(".")[0]
