"""What reticulate leaves behind of pandas' frames, and where times of NumPy and datetime become POSIXct.

POSIXct is a double: seconds since 1970, which reticulate makes of nanoseconds: 1677 to 2262. Microseconds
survive until 2242, shorter parts do not; a zone is a text that R reads as POSIX does, where UTC+05:00 lies
west of Greenwich.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from inspector.facts.converted import ValueChange
from inspector.objects.classes import type_name
from inspector.objects.layouts import r_vectors
from inspector.objects.layouts.r_objects import POINTER, header
from inspector.tracing.record.r_compared import only

NOT_A_TIME: Final = -(1 << 63)
"""NumPy's NaT, in nanoseconds: reticulate gives R that number, a date in 1677."""

_told: Final[dict[int, tuple[ValueChange, ...]]] = {}
"""What the data frame that crosses loses, by its address: it is looked at once, not for each of its times."""


def times_lost(held: int, crossed: Any, given: str) -> tuple[ValueChange, ...]:
    """Of the object whose pointer an R list holds, when its times cross as `crossed`; `given`: R's zone.

    `held` 0: no method of R's converts, as of reticulate 1.47 for arrays.
    """
    if not held and not is_times(crossed):
        return ()
    whole = _object(held) if held else crossed
    kind = type_name(type(whole))
    if kind == "DataFrame":
        return _of_frame(whole, crossed)
    if kind == "Series" and type(crossed) is list:
        return tuple(_merged(whole.index, crossed))
    if kind in ("Series", "ndarray") and type_name(type(crossed)) == "ndarray" and crossed.dtype.kind in "fM":
        zone = _zone(whole.dtype)
        lost = (_lost("", zone, "time zone UTC"),) if zone not in ("", "UTC") else ()
        return (*lost, *_missing(whole), *_finer("", whole))
    if type(crossed) is not float:
        return ()
    zone, read = _zone(whole), _as_r_reads(given)
    changed = (_lost("", zone, f"time zone {read}" if read else "none"),) if zone not in ("", read) else ()
    micro = round(crossed % 1 * 1e6) % 1_000_000
    finer = getattr(whole, "nanosecond", 0) or getattr(whole, "microsecond", micro) != micro
    return (*changed, *((_value(1, 1, 1, str(whole), _micro(crossed)),) if finer else ()))


def column_of(held: int, crossed: Any) -> str:
    """The label of the only column whose bytes cross, of the data frame that an R list holds; "" for none."""
    whole: Any = _object(held) if held else None
    if type_name(type(whole)) != "DataFrame" or type_name(type(crossed)) != "ndarray":
        return ""
    columns = [(str(label), whole.iloc[:, at].values) for at, label in enumerate(whole.columns)]
    same = [label for label, one in columns if type(one) is type(crossed) and _start(one) == _start(crossed)]
    return same[0] if len(same) == 1 and len(whole) else ""


def _start(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def is_times(obj: Any) -> bool:
    """Whether it is an array of NumPy's datetime64."""
    return type_name(type(obj)) == "ndarray" and bool(obj.dtype.kind == "M")


def _of_frame(frame: Any, crossed: Any) -> tuple[ValueChange, ...]:
    """Told with each of its times, which cross one by one; its labels cross last."""
    if type(crossed) is not float:
        _told.clear()
        is_whole = type(crossed) is list and len(crossed) == frame.shape[1]  # its labels
        if not is_whole:
            return ()
        return (*_rows(frame), *_merged(frame.columns, crossed), *_levels(frame), *_spans(frame))
    if id(frame) not in _told:
        columns = [(str(name), column) for name, column in frame.items()]
        zones = [_lost(name, zone, "none") for name, column in columns if (zone := _zone(column.dtype))]
        _told[id(frame)] = (*zones, *(change for each in columns for change in _finer(*each)))
    return _told[id(frame)]


def _spans(frame: Any) -> Iterator[ValueChange]:
    """Columns of time spans, whose R vector is a POSIXct without a time."""
    for at, (name, kind) in enumerate(frame.dtypes.items()):
        if kind.kind == "m" and len(frame):
            yield _value(len(frame), len(frame), 1, str(frame.iat[0, at]), "NA", str(name))


def _rows(frame: Any) -> Iterator[ValueChange]:
    """Labels of rows that R does not get: it takes texts and numbers without a second one."""
    index = frame.index
    if type_name(type(index)) in ("RangeIndex", "DatetimeIndex") or not len(index):
        return
    values = index.values
    labels = values.tolist()
    is_plain = type_name(type(values)) == "ndarray" and values.dtype.kind in "Oiuf"
    is_plain &= only(labels, str) or only(labels, int, float)
    if not is_plain or len(set(labels)) < len(labels):
        yield _value(len(labels), len(labels), 1, f"row label {labels[0]!r}", "1")


def _merged(labels: Any, shown: list[Any]) -> Iterator[ValueChange]:
    """Labels of several levels become one text."""
    if labels.nlevels > 1 and len(labels) and type(shown[0]) is str:
        many = len(labels)
        yield ValueChange("keys", "", many, many, 0, repr(labels[0]), repr(shown[0]))


def _levels(frame: Any) -> Iterator[ValueChange]:
    """Categories that are no texts: R's levels are."""
    for name, kind in frame.dtypes.items():
        held = getattr(kind, "categories", None)
        if held is None or not len(held) or type(held[0]) is str:
            continue
        yield ValueChange("keys", str(name), len(held), len(held), 0, str(held[0]), repr(str(held[0])))


def _object(held: int) -> Any:
    """The Python object behind list(external pointer); None for another list."""
    pointers = r_vectors.elements(found) if (found := header(held)) is not None else None
    pointer = header(int(pointers[0])) if pointers else None
    if pointer is None or pointer.type != POINTER or not pointer.first:
        return None
    return ctypes.cast(pointer.first, ctypes.py_object).value


def _zone(x: Any) -> str:
    """Of a timestamp or of pandas' dtype; "" for none."""
    zone = getattr(x, "tz", None) or getattr(x, "tzinfo", None)
    return "" if zone is None else str(zone)


def _as_r_reads(zone: str) -> str:
    """A zone that is no more than an offset means the opposite in R; another unknown one means UTC."""
    if found := re.fullmatch(r"(UTC|GMT)([+-])(\d\d:\d\d.*)", zone):
        return f"{found[1]}{'+' if found[2] == '-' else '-'}{found[3]}"
    return zone if not zone or _is_known(zone) else f"{zone}, which R does not know"


def _is_known(zone: str) -> bool:
    """Whether the system's table has the zone; True where there is no table."""
    return _is_listed(zone) or not _is_listed("UTC")


def _is_listed(zone: str) -> bool:
    try:
        ZoneInfo(zone)
    except (OSError, ValueError, KeyError):
        return False
    return True


def _nanoseconds(x: Any) -> Any:
    """An array of whole numbers; None for what has no times of NumPy's or pandas' own."""
    x = getattr(x, "values", x)  # of a Series: in UTC
    return x.ravel().astype("M8[ns]").view("i8") if x.dtype.kind == "M" else None


def _missing(x: Any) -> tuple[ValueChange, ...]:
    found = _nanoseconds(x)
    if found is None or not (gone := found == NOT_A_TIME).any():
        return ()
    return (_value(int(gone.sum()), len(found), int(gone.argmax()) + 1, "NaT", "1677-09-21 00:12:43"),)


def _finer(where: str, x: Any) -> tuple[ValueChange, ...]:
    """Nanoseconds that a double of seconds has no place for."""
    if getattr(getattr(x, "dtype", None), "kind", "") != "M" or (found := _nanoseconds(x)) is None:
        return ()
    seconds, given = found / 1e9, getattr(x, "values", x).ravel()
    beyond = found.view("M8[ns]").astype(given.dtype) != given  # outside of what 64 bits of nanoseconds hold
    finer = (found % 1000 != 0) & ((seconds * 1e9).round().astype("i8") != found)
    micro = (seconds * 1e6).round().astype("i8") != found // 1000
    other = (found != NOT_A_TIME) & (beyond | finer | micro)
    if not other.any():
        return ()
    at = int(other.argmax())
    before = str(given[at])
    return (_value(int(other.sum()), len(found), at + 1, before, _micro(float(seconds[at])), where),)


def _micro(seconds: float) -> str:
    """A time in UTC as R has it, to the microsecond; as R's number after the year 9999."""
    try:
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)).strftime(
            "%Y-%m-%dT%H:%M:%S.%f"
        )
    except OverflowError:
        return f"{seconds:.17g} s since 1970"


def _lost(where: str, zone: str, after: str) -> ValueChange:
    return ValueChange("attributes", where, 1, 1, 0, f"time zone {zone}", after)


def _value(lost: int, elements: int, first: int, before: str, after: str, where: str = "") -> ValueChange:
    return ValueChange("value", where, lost, elements, first, before, after)
