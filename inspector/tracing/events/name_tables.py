"""What the numbers in records lead to, beside types and lines: names of calls, libraries of import slots."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from inspector.facts.conversion import Counted, Seen
from inspector.facts.unknown import Unknown

NAMED: Final = -1
"""Row of a function of the C API that native/trace/capi/capi.def does not have; below it are those of allocators."""


@dataclass(slots=True)
class Tables:
    """One trace's tables; the same whether its process lives or left them in a file."""

    names: dict[int, str] = field(default_factory=dict)
    """Patched place -> name of the call."""
    modules: dict[int, str] = field(default_factory=dict)
    """Patched place -> module it belongs to."""
    import_modules: dict[int, str] = field(default_factory=dict)
    """Import slot -> extension that it belongs to."""
    hosts: dict[int, str] = field(default_factory=dict)
    """Import slot of a host that embeds Python -> function that it calls through it."""
    constants: dict[int, str] = field(default_factory=dict)
    """Address of a C text -> what it means to a host, beside its letters."""
    hooked_imports: int = 0
    seen: tuple[Seen, ...] = ()
    counted: tuple[Counted, ...] | Unknown = ()
    """Calls of the C API so far that are counted and not recorded."""
    askers: dict[int, str] = field(default_factory=dict)
    """Import slot -> library that asks for memory through it."""
    givers: tuple[str, ...] = ()
    """Functions that give memory, by the number in a record; empty: none is hooked."""


def library_of(path: str) -> str:
    """ "_multiarray_umath" of its path."""
    return path.rpartition("/")[2].partition(".")[0]
