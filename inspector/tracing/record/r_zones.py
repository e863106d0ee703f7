"""Time zones that a method of reticulate's leaves behind where pandas and datetime become R's POSIXct."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import ctypes
from typing import Any

from inspector.facts.converted import ValueChange
from inspector.objects.layouts import r_vectors
from inspector.objects.layouts.r_objects import POINTER, header


def zones_lost(held: int, crossed: Any, given: str) -> tuple[ValueChange, ...]:
    """Of the object whose pointer an R list holds, when its times cross as `crossed`; `given`: R's zone."""
    whole = _object(held)
    kind = type(whole).__name__
    if kind == "DataFrame" and type(crossed) is float:
        return tuple(_lost(str(name), zone, "none") for name, zone in _columns(whole) if zone)
    if kind == "Series" and type(crossed).__name__ == "ndarray":
        zone = _zone(whole.dtype)
        return (_lost("", zone, "time zone UTC"),) if zone not in ("", "UTC") else ()
    zone = _zone(whole)
    if type(crossed) is not float or zone in ("", given):
        return ()
    return (_lost("", zone, f"time zone {given}" if given else "none"),)


def _object(held: int) -> Any:
    """The Python object behind list(external pointer); None for another list."""
    pointers = r_vectors.elements(found) if (found := header(held)) is not None else None
    pointer = header(int(pointers[0])) if pointers else None
    if pointer is None or pointer.type != POINTER or not pointer.first:
        return None
    return ctypes.cast(pointer.first, ctypes.py_object).value


def _columns(frame: Any) -> list[tuple[Any, str]]:
    return [(name, _zone(dtype)) for name, dtype in frame.dtypes.items()]


def _zone(x: Any) -> str:
    """Of a timestamp or of pandas' dtype; "" for none."""
    zone = getattr(x, "tz", None) or getattr(x, "tzinfo", None)
    return "" if zone is None else str(zone)


def _lost(where: str, zone: str, after: str) -> ValueChange:
    return ValueChange("attributes", where, 1, 1, 0, f"time zone {zone}", after)
