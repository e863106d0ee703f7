"""NumPy's table of functions: through it extensions call NumPy, and so it is hooked beside their imports.

Nobody pays who does not call: the words of the table are patched, one a function that has a row, and calls of
modules that are not chosen go straight on (native/trace/arm/numpy_table.c).
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, Final

from inspector import _native
from inspector.tracing.events.name_tables import library_of

_MODULES: Final = ("numpy._core._multiarray_umath", "numpy.core._multiarray_umath")
"""Where NumPy 2 and NumPy 1 keep it."""


class NumpyTable:
    """Armed as soon as NumPy is there, restored by `end`; `grade` as `_native.got_arm` takes it."""

    def __init__(self, grade: int) -> None:
        self.grade = grade
        self.armed = 0
        """Functions that are hooked."""

    def widen(self, paths: frozenset[str]) -> None:
        """Calls of these libraries are recorded too."""
        if paths:
            _native.numpy_table_choose(paths)
        if not self.armed and (capsule := _capsule()) is not None:
            self.armed = _native.numpy_table_arm(capsule, self.grade)

    def end(self) -> None:
        """Put the table back; a second call does nothing."""
        _native.numpy_table_disarm()
        self.armed = 0


def callers_of_numpy() -> dict[int, str]:
    """Slot of a record -> library that called NumPy through its table; a tail call tells none."""
    return {slot[0]: library_of(slot[1]) for slot in _native.numpy_table_slots() if slot[1]}


def _capsule() -> Any:
    """NumPy's `_ARRAY_API`, if the process has imported it."""
    for name in _MODULES:
        module = sys.modules.get(name)
        if type(module) is ModuleType and (found := vars(module).get("_ARRAY_API")) is not None:
            return found
    return None
