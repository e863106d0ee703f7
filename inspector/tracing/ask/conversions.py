"""C-API records as conversions, merged and counted by call and function."""

# SPDX-License-Identifier: MIT
from dataclasses import replace
from typing import Any, Final

import numpy as np

from inspector.facts.conversion import Conversion
from inspector.facts.unknown import Unknown
from inspector.tracing.ask.nesting import TOP, Nesting
from inspector.tracing.events import capi_rows, native_frames
from inspector.tracing.events.decode import FLAGS, KINDS, Events, Rows
from inspector.tracing.events.native_frames import STACKS_MAX

VALUES_SHOWN = 8
_BECAME: Final = (1, 2, 3)
"""Bytes made, copied, shared: `func` of a BYTES record."""
_NO_MODULE = Unknown("a tail call left no return address, or the import slot is not known")


def by_group(events: Events, nesting: Nesting, ns: Rows) -> dict[int, tuple[Conversion, ...]]:
    """Group of equal calls -> its conversions, by first occurrence; TOP: those outside any call."""
    kind = events.records["kind"][nesting.heads]  # columns: whole records would be copied
    chosen = np.flatnonzero((kind == KINDS["CAPI"]) | ((kind == KINDS["CALLBACK"]) & ~nesting.is_call))
    if not len(chosen):
        return {}
    owner = nesting.owner[chosen]
    group = np.where(owner == TOP, TOP, nesting.group[owner])
    rows = nesting.heads[chosen]
    stack = native_frames.of_records(events, rows)
    key = ((group + 1) << 16 | events.records["func"][rows]) * STACKS_MAX + stack
    different, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    times = events.times()[rows]
    counts = np.bincount(inverse, weights=times)
    spent = np.bincount(inverse, weights=ns[chosen])
    failed = np.bincount(inverse, weights=times * ((events.records["flags"][rows] & FLAGS["ERROR"]) != 0))
    crossed = _bytes(events, rows, inverse, times)
    made: dict[int, list[tuple[int, Conversion]]] = {}
    for number, one in enumerate(different.tolist()):
        head = int(chosen[first[number]])
        found = _conversion(events, nesting, head, int(counts[number]), spent[number], int(failed[number]))
        made_bytes, copied_bytes, shared_bytes = (int(sums[number]) for sums in crossed)
        found = replace(found, made_bytes=made_bytes, copied_bytes=copied_bytes, shared_bytes=shared_bytes)
        if frames := events.stacks.get(one % STACKS_MAX):
            found = replace(found, frames=frames)
        made.setdefault((one // STACKS_MAX >> 16) - 1, []).append((head, found))
    return {group: tuple(found for _, found in sorted(rows, key=_first)) for group, rows in made.items()}


def _bytes(events: Events, rows: Rows, group: Rows, times: Rows) -> list[Rows]:
    """Bytes of arrays that each group made, copied and shared, from continuations of the call's record."""
    behind = np.minimum(rows + 1, len(events.records) - 1)
    told = np.flatnonzero(events.records["kind"][behind] == KINDS.get("BYTES", -1))
    of, became = group[told], events.records["func"][behind[told]]
    size = events.records["val"][behind[told]] * times[told]
    count = int(group.max(initial=-1)) + 1
    return [np.bincount(of, weights=size * (became == one), minlength=count) for one in _BECAME]


def _first(row: tuple[int, Conversion]) -> int:
    return row[0]


def _conversion(
    events: Events, nesting: Nesting, head: int, times: int, ns: float, failed: int
) -> Conversion:
    row = int(nesting.heads[head])
    record = events.records[row]
    func = int(record["func"])
    return Conversion(
        function=capi_rows.name(func),
        direction=capi_rows.direction(func),
        result=capi_rows.owned(func),
        **own_values(events, row, int(nesting.stops[head])),
        times=times,
        failed=failed,
        module=events.import_modules.get(int(record["slot"]), _NO_MODULE),
        ns=round(ns) if ns else Unknown("no clock was read"),
        depth=int(record["depth"]),
    )


def own_values(events: Events, row: int, stop: int) -> dict[str, Any]:
    """Format and values of the first conversion: those by its format, else its own value."""
    found: list[str] = []
    for record in events.records[row + 1 : stop]:
        if record["kind"] == KINDS["VALUE"]:
            found.append(capi_rows.format_text(chr(record["func"]), int(record["val"])))
        elif record["kind"] == KINDS.get("TEXT", -1):
            _put_text(found, capi_rows.text_of(record))
    record = events.records[row]
    form = found.pop(0) if found and capi_rows.takes_format(int(record["func"])) else ""
    own = "" if found or form else _own_value(record)
    shown = tuple(filter(None, found[:VALUES_SHOWN] or [own]))
    return {"format": form.replace("'", '"'), "values": shown}


def _put_text(found: list[str], text: str) -> None:
    if found and not found[-1]:
        found[-1] = text
    else:
        found.append(text)


def _own_value(record: Any) -> str:
    if record["flags"] & FLAGS["ERROR"]:
        return ""
    return capi_rows.value_text(int(record["func"]), int(record["val"]))
