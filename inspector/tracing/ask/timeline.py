"""A time window of a trace as boxes: long events single, short ones merged by pixel column; no loop."""

# SPDX-License-Identifier: MIT
from typing import Final

import numpy as np

from inspector.facts.timeline import Box, Timeline
from inspector.tracing.events import capi_rows
from inspector.tracing.events.decode import CALL_KINDS, FLAGS, KINDS, Events, Rows

COLUMNS: Final = 400
DRAWN: Final = (KINDS["CAPI"], KINDS["NAMED"], *CALL_KINDS)
"""Kinds of events with a duration: an allocation has none."""
MOST_BOXES: Final = 1_500
DEEPEST: Final = 15
"""Deeper events are drawn at this depth."""


class Clock:
    """The timed events of a trace as columns; created once, used for many windows.

    They are sorted by duration, short to long, so that no window needs to sort.
    """

    def __init__(self, events: Events) -> None:
        records = events.records
        heads = np.flatnonzero(
            np.isin(records["kind"], DRAWN) & ((records["flags"] & FLAGS["CONTINUATION"]) == 0)
        )
        timed = heads[records["start"][heads] > 0]
        self.untimed = len(heads) - len(timed)
        durations = events.durations_ns()
        timed = timed[::-1]  # of equal ones the first is drawn
        timed = timed[np.argsort(durations[timed], kind="stable")]
        self.duration: Rows = durations[timed]
        start = records["start"][timed].astype(np.int64)
        self.start: Rows = (start - (start.min() if len(start) else 0)) * (events.tick_ps / 1000)
        self.depth: Rows = np.minimum(records["depth"][timed], DEEPEST).astype(np.int64)
        self.name, self.names = _named(events, timed)
        self.whole_ns = int((self.start + self.duration).max()) if len(timed) else 0

    def window(self, begin_ns: int, end_ns: int) -> Timeline:
        """The boxes between two times; an empty window means the whole trace."""
        if not 0 <= begin_ns < end_ns:
            begin_ns, end_ns = 0, max(self.whole_ns, 1)
        inside = np.flatnonzero((self.start < end_ns) & (self.start + self.duration >= begin_ns))
        width = (end_ns - begin_ns) / COLUMNS
        long = self.duration[inside] >= width
        boxes, merged = self._merged(inside[~long], begin_ns, width)
        alone = [self._box(at, 1) for at in inside[long][-MOST_BOXES:]]
        kept = sorted([*alone, *boxes], key=lambda box: -box.duration_ns)[:MOST_BOXES]
        shown = sum(box.times for box in kept)
        left_out = len(inside) - shown
        kept.sort(key=lambda box: (box.start_ns, box.depth))
        return Timeline(
            begin_ns, end_ns, self.whole_ns, tuple(kept), len(inside), merged, left_out, self.untimed
        )

    def _merged(self, short: Rows, begin_ns: int, width: float) -> tuple[list[Box], int]:
        """One box for the short events of a depth and a column, under the longest one's name."""
        column = np.maximum((self.start[short] - begin_ns) // width, 0).astype(np.int64)
        key = self.depth[short] * (COLUMNS + 1) + column
        times = np.bincount(key)
        longest = np.zeros(len(times), dtype=np.int64)
        longest[key] = short  # the last of several at one key stays
        found = [self._box(longest[at], int(times[at]), int(width)) for at in np.flatnonzero(times)]
        return found, int(times[times > 1].sum())

    def _box(self, at: int, times: int, least_ns: int = 0) -> Box:
        duration = max(int(self.duration[at]), least_ns if times > 1 else 0)
        return Box(int(self.start[at]), duration, int(self.depth[at]), self.names[self.name[at]], times)


def _named(events: Events, rows: Rows) -> tuple[Rows, list[str]]:
    """For each row a number, and the names by these numbers."""
    records = events.records
    is_capi = records["kind"][rows] == KINDS["CAPI"]
    number = np.where(is_capi, -1 - records["func"][rows].astype(np.int64), records["slot"][rows])
    known, inverse = np.unique(number, return_inverse=True)
    names = [
        capi_rows.name(-1 - one) if one < 0 else events.names.get(one, f"place {one}")
        for one in known.tolist()
    ]
    return inverse, names
