"""Writes down each conversion between R and Python of a traced program, with R's line, into a file.

conversions-PID.jsonl   an object for each kind of conversion of a line, in the order of their first one;
                        {"starting": ns, "at": seconds} for the start's; [number, ns, calls] for each without
                        a place in conversions-PID.counts (r_counts.py)
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Final

from inspector import _native
from inspector.facts.converted import HostSide, How, ValueChange
from inspector.facts.wire import to_wire
from inspector.objects.layouts import r_vectors
from inspector.objects.layouts.r_objects import LIST, Header, header
from inspector.tracing.record import r_scalars
from inspector.tracing.record.r_compared import Pair
from inspector.tracing.record.r_counts import Counts
from inspector.tracing.record.r_times import column_of, is_times, times_lost

SOURCES: Final = Path(__file__).parent / "r"
MOST_LEVELS, MOST_TIMES = 1000, 1000
"""A factor with more levels is not looked at; of a column of times the first ones are."""

_Row = tuple[int, str, HostSide, How, HostSide, tuple[ValueChange, ...], bool, tuple[str, ...]]


class RConversions:
    """From `begin` to `end`: the observer of native/trace/arm/conversions.c."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[_Row, int] = {}
        self._scalars: dict[r_scalars.Kind, int] = {}
        self._counts = Counts(path.with_suffix(".counts"))
        self.armed = False

    def begin(self, hosts: Collection[str], source: str = "") -> None:
        """Hook reticulate's conversions, if it is among the hosts; `source`: R's, in place of lines.R."""
        paths = frozenset(path for path in hosts if "reticulate" in path)
        if paths and not self.armed:
            self._write({"process": _began()})
            source = source or (SOURCES / "lines.R").read_text()
            self.armed = _native.conversions_arm(paths, self._told, source)

    def end(self) -> None:
        """Restore."""
        if self.armed:
            self.armed = False
            _native.conversions_disarm()

    def _told(
        self,
        to_r: int,
        obj: Any,
        sexp: int,
        start: int,
        stop: int,
        calls: int,
        texts: tuple[str, ...],
        frame: int,
    ) -> None:
        if texts and (texts[-1] or _is_importing()):
            self._write({"starting": stop - start, "at": time.time()})
            return
        scalar = None if frame else r_scalars.kind_of(to_r, obj, sexp, texts)
        if scalar in self._scalars:
            self._count(self._scalars[scalar], stop - start, calls)
            return
        value = header(sexp)
        if value is None or value.type not in r_vectors.CODES:
            return  # a reference, which is no conversion
        pair = Pair(value, obj, not to_r)
        given, became = pair.sides()
        names = [] if to_r else _columns(frame)
        name = _column(frame, sexp, names)  # a column of times is made first: it has no name
        said = texts[-2] if texts and not name else ""
        if value.type not in (r_vectors.REAL, LIST) and not said.startswith("levels "):
            said = ""  # it is about another object
        said = "" if value.type == LIST and said.startswith("time zone ") else said  # a factor's levels
        if frame and not to_r and said.startswith("time zone ") and (found := _times_of(frame, value, names)):
            name, said = found
        if to_r:
            left_out = times_lost(frame, obj, said)
        else:
            left_out = (ValueChange("attributes", "", 1, 1, 0, said, "none"),) if said else ()
        made = () if not to_r and not name and _is_of_factor(frame, value) else pair.changes()
        again = (_again(name, names),) if name and names.count(name) > 1 else ()
        changes = (*made, *left_out, *again)
        name = column_of(frame, obj) if to_r and changes else name
        compared = pair.compared or bool(to_r and is_times(obj))
        number = self._number((to_r, name, given, pair.how(), became, changes, compared, texts))
        self._count(number, stop - start, calls)
        if scalar is not None:
            self._scalars[scalar] = number

    def _number(self, row: _Row) -> int:
        number = self._known.get(row)
        if number is None:
            self._known[row] = number = len(self._known)
            self._write(_wire(*row))
        return number

    def _count(self, number: int, ns: int, calls: int) -> None:
        if not self._counts.add(number, ns, calls):
            self._write([number, ns, calls])

    def _write(self, row: Any) -> None:
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            os.write(file, json.dumps(row).encode() + b"\n")
        finally:
            os.close(file)


def _wire(
    to_r: int,
    name: str,
    given: HostSide,
    how: How,
    became: HostSide,
    changes: tuple[ValueChange, ...],
    compared: bool,
    texts: tuple[str, ...],
) -> dict[str, Any]:
    return {
        "to_python": not to_r, "name": name, "given": to_wire(given), "how": how,
        "became": to_wire(became), "changes": to_wire(changes), "compared": compared, "texts": texts,
    }  # fmt: skip


def _is_importing() -> bool:
    """Whether Python tells reticulate which module it imports."""
    running = sys._getframe().f_back
    while running is not None and running.f_code.co_filename.endswith((__file__, "/rpytools/call.py")):
        running = running.f_back
    return running is not None and running.f_code.co_filename.endswith("/rpytools/loader.py")


def _columns(frame: int) -> list[str]:
    """The names of the columns of a data frame; none for 0."""
    held = header(frame) if frame else None
    if held is None:
        return []
    return [one or "" for one in r_vectors.texts(r_vectors.attributes(held).get("names"), held.first)]


def _column(frame: int, sexp: int, names: list[str]) -> str:
    """The name of the column that an R value is; "" for none."""
    held = header(frame) if names else None
    pointers = r_vectors.elements(held) if held is not None else None
    if pointers is None or sexp not in pointers:
        return ""
    at = pointers.index(sexp)
    return names[at] if at < len(names) else ""


def _times_of(frame: int, value: Header, names: list[str]) -> tuple[str, str] | None:
    """(name, its zone) of the only POSIXct column whose times an array has; None: there is not one."""
    held, made = header(frame), r_vectors.elements(value)
    pointers = (r_vectors.elements(held) if held is not None else None) or ()
    found = [
        (name, r_vectors.texts(r_vectors.attributes(one).get("tzone"), 1))
        for name, address in zip(names, pointers, strict=False)
        if made is not None and (one := header(int(address))) is not None and _are_times(one, made)
    ]
    zones = [(name, f"time zone {zone[0]}" if zone and zone[0] else "") for name, zone in found]
    return zones[0] if len(zones) == 1 else None


def _are_times(column: Header, nanoseconds: Sequence[float]) -> bool:
    """Whether a POSIXct column begins with these times, as far as it is looked at."""
    seconds = r_vectors.elements(column)
    if seconds is None or len(seconds) != len(nanoseconds):
        return False
    if "POSIXct" not in r_vectors.texts(r_vectors.attributes(column).get("class"), 1):
        return False
    pairs = zip(seconds[:MOST_TIMES], nanoseconds, strict=False)
    return all(one * 1e9 == other or (one != one and other != other) for one, other in pairs)


def _again(name: str, names: list[str]) -> ValueChange:
    """Columns of one name: reticulate makes a dict of them, and pandas each from its last one."""
    count = names.count(name)
    return ValueChange("items", "", count - 1, count, 0, f"{count} columns {name!r}", "the last one's values")


def _is_of_factor(frame: int, value: Header) -> bool:
    """Whether these are texts that reticulate made of a factor of a data frame.

    An "NA" among them that is none of its levels is no value again in pandas.
    """
    held = header(frame) if frame and value.type == r_vectors.STRING else None
    columns = [header(int(one)) for one in (r_vectors.elements(held) if held is not None else None) or ()]
    of = [r_vectors.attributes(one).get("levels") for one in columns if one and one.first == value.first]
    levels = [one for one in of if one is not None]
    return bool(levels) and not any(
        one.first > MOST_LEVELS or "NA" in r_vectors.texts(one, MOST_LEVELS) for one in levels
    )


def _began() -> float:
    """When this process began, in seconds since 1970."""
    ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    up = float(Path("/proc/uptime").read_text().split()[0])
    return time.time() - up + ticks / os.sysconf("SC_CLK_TCK")
