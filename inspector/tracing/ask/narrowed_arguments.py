"""Numbers that ctypes narrows: the value that the C API read compared with the argument of the C function.

ctypes reads an int with a 64-bit conversion and stores as many bits as the argument's type has. The two
are recorded one after the other. A word counts only if it is exactly the low bits of the value read; a word
of one or two bytes only if the value was read in the line of the call too: an address read before may end so.
"""

# SPDX-License-Identifier: MIT
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from inspector import _native
from inspector.facts.conversion import Loss, LossEvidence
from inspector.tracing.ask.nesting import Nesting
from inspector.tracing.events.capi_rows import as_signed
from inspector.tracing.events.decode import FLAGS, KINDS, Events

LOOKED_BACK: Final = 64
"""Records before a call that are searched for its conversions."""
_READING: Final = frozenset(
    row
    for row, told in enumerate(getattr(_native, "CAPI_ROWS", ()))
    if told[0].startswith("PyLong_As") and ("Long" in told[0][8:] or told[0] == "PyLong_AsInt")
)
WIDE_BYTES: Final = 8
TELLING_BYTES: Final = 4


def narrowed(events: Events, nesting: Nesting) -> tuple[LossEvidence, ...]:
    """One for each number of equal calls that a C function received changed."""
    kinds = events.records["kind"][nesting.heads]
    found: dict[Any, Loss] = {}
    times: Counter[Any] = Counter()
    each = events.times()[nesting.heads]
    for head in np.flatnonzero(kinds == KINDS["FOREIGN"]).tolist():
        for loss in _of_call(events, nesting, head):
            key = (int(nesting.group[head]), loss.before, loss.after)
            times[key] += int(each[head])
            found.setdefault(key, loss)
    return tuple(
        LossEvidence(_times(loss, times[key]), shows=True, converts=True) for key, loss in found.items()
    )


def _times(loss: Loss, times: int) -> Loss:
    from dataclasses import replace

    return replace(loss, times=times)


def _of_call(events: Events, nesting: Nesting, head: int) -> Iterator[Loss]:
    row, stop = int(nesting.heads[head]), int(nesting.stops[head])
    read = iter(_read_before(events, nesting, head))
    for value in events.records[row + 1 : stop]:
        if (
            value["kind"] != KINDS["VALUE"]
            or value["flags"] & FLAGS["OUTPUT"]
            or chr(value["func"]) not in "IU"
        ):
            continue
        size, word = int(value["aux"]), int(value["val"])
        mask = (1 << 8 * size) - 1
        tells = size >= TELLING_BYTES
        source = next((one for one, near in read if (near or tells) and (one ^ word) & mask == 0), None)
        got = as_signed(word) if chr(value["func"]) == "I" else word & mask
        if source is not None and size < WIDE_BYTES and as_signed(source) != got:
            yield _loss(events, row, as_signed(source), got, size)


def _read_before(events: Events, nesting: Nesting, head: int) -> list[tuple[int, bool]]:
    """The ints that the C API read since the previous call, in order, and whether in the line of the call."""
    found = []
    thread, place = events.thread[nesting.heads[head]], _line(events, int(nesting.heads[head]))
    for one in range(head - 1, max(head - LOOKED_BACK, -1), -1):
        row = int(nesting.heads[one])
        record = events.records[row]
        if record["kind"] == KINDS["FOREIGN"] or events.thread[row] != thread:
            break
        is_read = record["kind"] == KINDS["CAPI"] and int(record["func"]) in _READING
        if is_read and not record["flags"] & FLAGS["ERROR"]:
            found.append((int(record["val"]), _line(events, row) == place))
    return found[::-1]


def _line(events: Events, row: int) -> tuple[object, object]:
    site = events.sites[events.site[row]]
    return site.file, site.line


def _loss(events: Events, row: int, before: int, after: int, size: int) -> Loss:
    fits = -(1 << 8 * size - 1) <= before < 1 << 8 * size
    slot = int(events.records[row]["slot"])
    return Loss(
        rule="sign" if fits else "overflow",
        function=events.names.get(slot, f"place {slot}"),
        before=str(before),
        after=str(after),
        first=0,
        lost=1,
        compared=1,
        elements=1,
        times=1,
        confidence="certain",
        site=events.sites[events.site[row]],
    )
