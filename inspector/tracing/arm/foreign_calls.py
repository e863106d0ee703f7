"""Calls by ctypes and cffi: hooked in their own libraries, and named by the called address."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterable
from typing import Final

from inspector import _native
from inspector.facts.unknown import Unknown
from inspector.tracing.events.name_tables import library_of

LIBRARIES: Final = ("_ctypes", "_cffi_backend")
PATTERNS: Final = frozenset(("ctypes", "_ctypes", "cffi", "_cffi_backend"))
"""Choosing one of these modules, or none at all, includes these calls."""


class ForeignSlots:
    """The slots through which ctypes and cffi call C functions, while hooked."""

    def __init__(self, modules: Iterable[str] = ()) -> None:
        chosen = tuple(modules)
        self.wanted = not chosen or any(name.partition(".")[0] in PATTERNS for name in chosen)
        self.paths = frozenset[str]()

    def widen(self) -> None:
        """Hook libraries loaded since. Raises RuntimeError in a second interpreter."""
        found = frozenset(p for p in _native.got_objects() if library_of(p) in LIBRARIES)
        if self.wanted and found - self.paths:
            _native.foreign_arm(found - self.paths)
            self.paths |= found

    def end(self) -> None:
        """Restore the slots; a second call does nothing. CapiSlots restores those of the GIL."""
        _native.foreign_open(False)
        if self.paths:
            self.paths = frozenset()
            _native.foreign_disarm()


def names() -> tuple[dict[int, str], dict[int, str]]:
    """(number of a C function -> "libm.so.6:cos", -> its library), for all called functions."""
    called, modules = {}, {}
    for number, address in _native.foreign_functions().items():
        called[number], modules[number] = named(address)
    return called, modules


def named(address: int) -> tuple[str, str]:
    """("libm.so.6:cos", "libm.so.6"); with an offset if only a symbol before the function is known."""
    from inspector.binaries.addresses import place

    at = place(address)
    if isinstance(at.library, Unknown):
        return f"{address:#x}", "made at run time"
    library = at.library.rpartition("/")[2]
    if names := [name for name in _native.foreign_names(address) if not name.startswith("_")]:
        return f"{library}:{min(names, key=lambda name: (len(name), name))}", library
    if isinstance(at.symbol, Unknown):
        return f"{library}+{at.offset_bytes:#x}", library
    return f"{library}:{at.symbol}{f'+{at.offset_bytes:#x}' if at.offset_bytes else ''}", library
