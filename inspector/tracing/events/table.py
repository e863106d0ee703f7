"""A trace as columns with names instead of numbers, for `Traced.table()` and the store."""

# SPDX-License-Identifier: MIT
from collections.abc import Mapping

import numpy as np

from inspector.facts.unknown import Unknown
from inspector.tracing.events import capi_rows
from inspector.tracing.events.decode import CALL_KINDS, KINDS, Events, Rows


def columns(events: Events) -> Mapping[str, Rows]:
    """One row a record: kind, name, line, thread, start_ns, duration_ns, and the raw words."""
    records = events.records
    clocked = ~events.flagged("CONTINUATION") & (records["start"] > 0)
    start = np.where(clocked, records["start"], 0).astype(np.int64)
    begun = start[clocked].min(initial=np.iinfo(np.int64).max) if len(start) else 0
    names = np.array([name for name, _ in sorted(KINDS.items(), key=lambda pair: pair[1])])
    return {
        "kind": names[records["kind"]],
        "name": _names(events),
        "line": _lines(events),
        "thread": np.array(events.threads or (0,), np.uint64)[events.thread],
        "start_ns": np.where(start > 0, (start - begun) * (events.tick_ps / 1000), 0),
        "duration_ns": events.durations_ns(),
        "times": events.times(),
        **{field: records[field] for field in ("depth", "flags", "obj", "val", "aux", "slot", "func")},
    }


def _names(events: Events) -> Rows:
    """The function of each record; "" for a continuation."""
    records = events.records
    made: Rows = np.full(len(records), "", object)
    for number in np.unique(records["slot"]).tolist():
        chosen = (records["slot"] == number) & np.isin(records["kind"], CALL_KINDS)
        made[chosen] = events.names.get(number, f"place {number}")
    is_capi = records["kind"] == KINDS["CAPI"]
    for row in np.unique(records["func"][is_capi]).tolist():
        made[is_capi & (records["func"] == row)] = capi_rows.name(row)
    return made


def _lines(events: Events) -> Rows:
    said = [f"{site.file}:{site.line}" if not isinstance(site.line, Unknown) else "" for site in events.sites]
    found: Rows = np.array(said or [""], object)[events.site]
    return found
