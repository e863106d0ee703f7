"""The lines of an R program that made values cross, read from what its process wrote into a folder."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from inspector.facts.converted import (
    NO_LINES,
    Converted,
    HostLine,
    HostLines,
    HostPlace,
    HostSide,
    ValueChange,
)
from inspector.facts.unknown import Unknown
from inspector.facts.wire import from_wire
from inspector.tracing.record.r_counts import counted

STARTS: Final = re.compile(r"(\w+ *<- *)?(\w+::)?(library|require|import|use_\w+|suppress\w+\(library)\(")
"""A statement that only makes packages or Python ready."""


def read(folder: Path, pid: int) -> HostLines:
    """The lines of process `pid`; NO_LINES where it was no R."""
    path = folder / f"conversions-{pid}.jsonl"
    if not path.exists():
        return NO_LINES
    rows = [json.loads(line) for line in path.read_text().splitlines() if line.endswith(("}", "]"))]
    began = json.loads((folder / f"began-{pid}.json").read_text())
    return HostLines(
        language="R",
        lines=tuple(_lines([*rows, *_counted(path)])),
        startup_ns=_startup(folder / f"statements-{pid}.txt", began, rows),
        startup_conversions=sum(type(row) is dict and "starting" in row for row in rows),
        python=began["version"],
    )


def of_block(path: Path, python: str) -> HostLines:
    """The lines of a block in an R that goes on: what was written since the block began."""
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    lines = tuple(_lines([*rows, *_counted(path)]))
    return HostLines("R", lines, Unknown("the block did not start R"), 0, python)


def statements(folder: Path) -> list[tuple[float, int, int]]:
    """When each statement of the only R script was over, in seconds since 1970, its first and last line."""
    paths = list(folder.glob("statements-*.txt"))
    noted = [line.split(" ", 4) for path in paths for line in path.read_text().splitlines()]
    over = [(float(time), int(first), int(last)) for name, time, first, last, _ in noted if name.isdigit()]
    return over[1:] if len(paths) == 1 and all(first for _, first, _ in over[1:]) else []


def _counted(path: Path) -> list[list[int]]:
    """[number, nanoseconds, calls, times]"""
    return [list(row) for row in counted(path.with_suffix(".counts"))]


def _lines(rows: list[Any]) -> Iterator[HostLine]:
    """One a line, in the order of the source; the order of the program where a line is not known."""
    first = [row for row in rows if type(row) is dict and "texts" in row]
    totals = [[0, 0, 0] for _ in first]
    for number, *more in (row for row in rows if type(row) is list):
        totals[number] = [a + b for a, b in zip(totals[number], (*more, 1), strict=False)]
    found: dict[HostLine, list[Converted]] = {}
    for row, (ns, calls, times) in zip(first, totals, strict=True):
        _merge(found.setdefault(_line(row["texts"]), []), _converted(row, ns, calls, times))
    lines = [replace(line, conversions=tuple(converted)) for line, converted in found.items()]
    yield from sorted(lines, key=lambda line: (line.statement.line, line.inside.line))


_NOWHERE: Final = ("", "0", "0", "", "", "0", "", "", "", "")
"""Of a conversion whose line R could not say."""


def _line(texts: list[str]) -> HostLine:
    file, first, last, text, inner_file, inner, inner_text, function, called, method, *_ = texts or _NOWHERE
    statement = HostPlace(file, int(first), int(last), " ".join(text.split()))
    inside = HostPlace(inner_file, int(inner), int(inner), inner_text) if int(inner) else statement
    whole = method.partition(".")[2]
    return HostLine(statement, inside, function, called, "" if whole == "default" else whole, ())


def _converted(row: dict[str, Any], ns: int, calls: int, times: int) -> Converted:
    became = from_wire(HostSide, row["became"])
    made = 0 if isinstance(became.bytes, Unknown) else became.bytes * times
    return Converted(
        to_python=row["to_python"], name=row["name"], given=from_wire(HostSide, row["given"]),
        became=became, how=row["how"], compared=row["compared"], calls=calls,
        ns=ns, changes=tuple(from_wire(ValueChange, one) for one in row["changes"]), times=times,
        made_bytes=made,
    )  # fmt: skip


def _merge(known: list[Converted], more: Converted) -> None:
    """Add a conversion to those of a line; another size or other losses make no row of their own."""
    for at, one in enumerate(known):
        if _kind(one) == _kind(more):
            largest = max(one, more, key=lambda each: each.given.length)
            known[at] = replace(
                largest, changes=_changes(one, more), compared=one.compared and more.compared,
                calls=one.calls + more.calls, ns=one.ns + more.ns, times=one.times + more.times,
                made_bytes=one.made_bytes + more.made_bytes,
            )  # fmt: skip
            return
    known.append(more)


def _kind(one: Converted) -> tuple[object, ...]:
    return (one.to_python, one.name, one.given.kind, one.became.kind, one.how)


def _changes(one: Converted, more: Converted) -> tuple[ValueChange, ...]:
    changes = (*more.changes, *one.changes)
    return tuple({(each.what, each.where, _which(each)): each for each in changes}.values())


def _which(change: ValueChange) -> str:
    return change.before if change.what in ("attributes", "items") else ""


def _startup(path: Path, began: dict[str, Any], rows: list[Any]) -> int | Unknown:
    """R's own start, statements that only load something, and Python's start within another statement."""
    if not path.exists():
        return Unknown("R did not run our profile, which notes the time")
    noted = [line.split(" ", 4) for line in path.read_text().splitlines()]
    objects = [row for row in rows if type(row) is dict]
    ready = [row["at"] for row in objects if "at" in row]
    start = next(row["process"] for row in objects if "process" in row)
    return round(1e9 * sum(_spent(noted, start, ready[-1] if ready else 0.0)))


def _spent(noted: list[list[str]], before: float, ready: float) -> Iterator[float]:
    """Seconds, part by part, from `before` on. `ready`: when the last conversion of the start was over."""
    began = 0.0
    for name, time, _, _, text in noted:
        at = float(time)
        if name == "0":
            yield at - before
            before = at
        elif name == "python":
            began = at
        else:
            if STARTS.match(text):
                yield at - before
            elif began:
                yield max(min(ready, at) - began, 0.0)
            before, began = at, 0.0
