"""A trace for ui.perfetto.dev: Chrome's JSON, one complete event ("X") a call or conversion with a duration.

https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU (Trace Event Format)
"""

# SPDX-License-Identifier: MIT
import json
from pathlib import Path

import numpy as np

from inspector.errors import unwritable
from inspector.tracing.events.decode import CALL_KINDS, KINDS, Events
from inspector.tracing.events.table import columns

MOST = 200_000
"""Most events written: calls first, then the longest conversions."""


def write(events: Events, path: str | Path) -> int:
    """Write the file; return the number of events left out."""
    table = columns(events)
    kind = events.records["kind"]
    timed = np.flatnonzero((table["start_ns"] >= 0) & (table["duration_ns"] > 0))
    is_call = np.isin(kind[timed], CALL_KINDS)
    chosen = timed[is_call | (kind[timed] == KINDS["CAPI"])]
    order = np.lexsort((-table["duration_ns"][chosen], ~np.isin(kind[chosen], CALL_KINDS)))
    kept = np.sort(chosen[order[:MOST]])
    rows = [
        {
            "ph": "X",
            "name": table["name"][row],
            "cat": str(table["kind"][row]),
            "pid": 1,
            "tid": int(table["thread"][row]),
            "ts": float(table["start_ns"][row]) / 1000,
            "dur": float(table["duration_ns"][row]) / 1000,
            "args": {"line": table["line"][row]},
        }
        for row in kept.tolist()
    ]
    try:
        Path(path).write_text(json.dumps({"displayTimeUnit": "ns", "traceEvents": rows}))
    except OSError as error:
        raise unwritable(path, error) from None
    return len(chosen) - len(kept)
