"""Calls of the C API that are only counted: in grade count all, in grade record those without a value
(QUESTION or UPKEEP in native/trace/capi/capi.def, or no row there).
"""

# SPDX-License-Identifier: MIT
from collections import Counter
from collections.abc import Container
from typing import Final

from inspector import _native
from inspector.facts.conversion import Counted
from inspector.facts.unknown import Unknown
from inspector.tracing.events import capi_rows
from inspector.tracing.events.name_tables import library_of

NOT_REPORTED: Final = Unknown("the program ended before it reported them")
NOT_SAVED: Final = Unknown("the trace was saved by an inspector that did not keep them")


class Counts:
    """The calls counted from now on."""

    def __init__(self, everything: bool) -> None:
        """`everything`: nothing is recorded; else calls through NumPy's table are recorded, not counted."""
        _native.got_clear_counts()
        self._everything = everything
        self._before = _of_numpy()

    def so_far(self, slots: Container[int]) -> tuple[Counted, ...]:
        """One for each function and calling extension, most frequent first; `slots`: those of the C API."""
        times: Counter[tuple[str, str]] = Counter()
        for number, count in _native.got_counts():
            if number in slots:
                path, name, row = _native.got_slot(number)
                times[capi_rows.name(row) if row >= 0 else name, library_of(path)] += count
        if self._everything:
            times += _of_numpy() - self._before
        return tuple(Counted(*key, count) for key, count in times.most_common() if count)


def _of_numpy() -> Counter[tuple[str, str]]:
    """(function, extension) -> calls through NumPy's table since it was first hooked."""
    times: Counter[tuple[str, str]] = Counter()
    for _, path, row, count in _native.numpy_table_slots():
        times[capi_rows.name(row), library_of(path)] += count
    return times
