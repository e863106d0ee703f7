"""Native frames in one line: functions, innermost first, with the library after each run of its functions."""

# SPDX-License-Identifier: MIT
from collections.abc import Sequence
from itertools import groupby

from inspector.facts.native import Place
from inspector.facts.unknown import Unknown
from inspector.views.place import library_name

SHOWN = 5
"""Functions shown of each run; the rest is counted."""


def came_through(frames: Sequence[Place]) -> str:
    """ "DOUBLE_setitem ← PyArray_Pack (_multiarray_umath)"; without a symbol, the offset."""
    return " ← ".join(_run(library, list(run)) for library, run in groupby(frames, _library))


def _run(library: str, run: list[Place]) -> str:
    names = [name for name, _ in groupby(map(_name, run))]
    more = f" ← {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return f"{' ← '.join(names[:SHOWN])}{more} ({library})"


def _name(frame: Place) -> str:
    return f"+{frame.offset_bytes:#x}" if isinstance(frame.symbol, Unknown) else frame.symbol


def _library(frame: Place) -> str:
    return library_name(frame.library)
