"""The slots through which libraries allocate memory, and Python's allocators: patched, named, restored."""

# SPDX-License-Identifier: MIT
import atexit
from bisect import bisect_right
from collections.abc import Callable, Mapping
from typing import Final

from inspector import _native
from inspector.tracing.events.name_tables import library_of

PYTHON: Final = "Python"
"""The allocating library for a block of Python's own allocators."""
Images = dict[int, tuple[int, str]]
"""First address of a loaded file's code -> where it ends, library."""


def caller(address: int) -> str:
    """The library that called Python's allocators, by its return address, while the libraries are loaded."""
    image, python = _native.image(address), _native.image(id(int))
    ours = {python[0] if python else "", _native.__file__}
    return PYTHON if image is None or image[0] in ours else library_of(image[0])


def images() -> Images:
    """The table behind `caller` for all loaded code, for a process that reads the records elsewhere."""
    rows = [row for row in _native.maps() if "x" in row[2] and row[-1].startswith("/")]
    return {row[0]: (row[1], caller(row[0])) for row in rows}


def caller_among(found: Mapping[int, tuple[int, str]]) -> Callable[[int], str]:
    """`caller` by the saved table of another process."""
    starts = sorted(found)

    def named(address: int) -> str:
        at = bisect_right(starts, address) - 1
        stop, library = found[starts[at]] if at >= 0 else (0, PYTHON)
        return library if address < stop else PYTHON

    return named


class AllocationSlots:
    """The slots through which libraries allocate memory, and Python's own allocators, while hooked."""

    def __init__(self) -> None:
        self.armed = self.outdone = False
        self._patched = 0

    def begin(self) -> None:
        """Hook the loaded libraries. Raises RuntimeError in a second interpreter."""
        atexit.register(self.end)
        self.armed = True
        try:
            self.widen()
        except BaseException:
            self.end()
            raise

    def widen(self) -> bool:
        """Hook libraries loaded since; return whether there were any."""
        new = _native.allocations_arm()[0] if self.armed else 0
        self._patched += new
        return new > 0

    def end(self) -> None:
        """Restore everything; a second call does nothing."""
        if self.armed:
            self.armed = False
            _native.allocations_open(False)
            restored, others, gone, locked, domains = _native.allocations_disarm()
            found_again = restored + gone + locked == self._patched
            self.outdone = bool(others or domains) or not found_again
            atexit.unregister(self.end)
