"""Cut a trace to given threads and times; the result is a trace again."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from inspector import _native
from inspector.tracing.events.decode import FLAGS, Events, Rows

Interval = tuple[int, int, int]
"""(threading.get_ident() of a thread, first, last), in CLOCK_MONOTONIC ns; a thread's do not overlap."""


def during(events: Events, intervals: Iterable[Interval], *, outside: bool = False) -> Events:
    """The calls that began in one of the intervals, with nested records; or those in none (`outside`).

    Needs a trace with clocks, made on this machine since its boot.
    """
    inside = fell_in(events, list(intervals)) >= 0
    rows = inside ^ outside
    return replace(events, records=events.records[rows], thread=events.thread[rows], site=events.site[rows])


def fell_in(events: Events, intervals: Sequence[Interval]) -> Rows:
    """Number of the interval in which the call of each record began; -1: in none."""
    heads = heads_of(events)
    began, thread = began_ns(events)[heads], events.thread[heads]
    found = np.full(len(heads), -1)
    for number, ident in enumerate(events.threads):
        own = np.array([at for at, one in enumerate(intervals) if one[0] == ident], int)
        if not len(own):
            continue
        first, last = (np.array([intervals[at][word] for at in own]) for word in (1, 2))
        order = np.argsort(first)
        rows = np.flatnonzero(thread == number)
        latest = np.searchsorted(first[order], began[rows], side="right") - 1
        which = order[np.maximum(latest, 0)]
        found[rows] = np.where((latest >= 0) & (began[rows] <= last[which]), own[which], -1)
    return np.repeat(found, _sizes(events, heads))


def began_ns(events: Events) -> Rows:
    """CLOCK_MONOTONIC ns of each record's call."""
    heads = heads_of(events)
    ticks_now, now_ns, _ = _native.ring_clock()
    ago = ticks_now - events.records["start"][heads].astype(np.int64)
    began: Rows = np.repeat(now_ns - ago * (events.tick_ps / 1000), _sizes(events, heads))
    return began


def heads_of(events: Events) -> Rows:
    """Row numbers of the records that begin a call."""
    return np.flatnonzero((events.records["flags"] & FLAGS["CONTINUATION"]) == 0)


def _sizes(events: Events, heads: Rows) -> Rows:
    return np.diff(np.append(heads, len(events.records)))
