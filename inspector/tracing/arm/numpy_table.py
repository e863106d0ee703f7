"""NumPy's table of functions: extensions call NumPy through it, so it is hooked in addition to their imports.

One word of the table is patched for each function with a row; calls of modules that are not chosen go
straight to the original (native/trace/arm/numpy_table.c). Code that does not call NumPy has no cost.
"""

# SPDX-License-Identifier: MIT
import sys
from types import ModuleType
from typing import Any, Final

from inspector import _native
from inspector.tracing.events.name_tables import library_of

_MODULES: Final = ("numpy._core._multiarray_umath", "numpy.core._multiarray_umath")
"""The modules that hold it in NumPy 2 and NumPy 1."""


class NumpyTable:
    """Patched as soon as NumPy is imported, restored by `end`; `grade` as for `_native.got_arm`."""

    def __init__(self, grade: int) -> None:
        self.grade = grade
        self.armed = 0
        """Number of hooked functions."""

    def widen(self, paths: frozenset[str]) -> None:
        """Record the calls of these libraries too."""
        if paths:
            _native.numpy_table_choose(paths)
        if not self.armed and (capsule := _capsule()) is not None:
            self.armed = _native.numpy_table_arm(capsule, self.grade)

    def end(self) -> None:
        """Restore the table; a second call does nothing."""
        _native.numpy_table_disarm()
        self.armed = 0


def callers_of_numpy() -> dict[int, str]:
    """Slot of a record -> library that called NumPy through its table; none for a tail call."""
    return {slot[0]: library_of(slot[1]) for slot in _native.numpy_table_slots() if slot[1]}


def _capsule() -> Any:
    for name in _MODULES:
        module = sys.modules.get(name)
        if type(module) is ModuleType and (found := vars(module).get("_ARRAY_API")) is not None:
            return found
    return None
