"""The part of a trace that ran in given threads at given times: a trace again, to be asked like the whole."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from inspector import _native
from inspector.tracing.decode import FLAGS, Events, Rows


def during(events: Events, intervals: Iterable[tuple[int, int, int]], *, outside: bool = False) -> Events:
    """The calls that began in one of the intervals, with what nested in them; or those in none (`outside`).

    An interval is (threading.get_ident() of a thread, first, last), in CLOCK_MONOTONIC ns; of a trace of this
    process with its clocks.
    """
    heads = np.flatnonzero((events.records["flags"] & FLAGS["CONTINUATION"]) == 0)
    began, thread = _began_ns(events, heads), events.thread[heads]
    inside = np.zeros(len(heads), bool)
    for ident, first, last in intervals:
        if ident in events.threads:
            inside |= (thread == events.threads.index(ident)) & (began >= first) & (began <= last)
    rows = np.repeat(inside ^ outside, np.diff(np.append(heads, len(events.records))))
    return replace(events, records=events.records[rows], thread=events.thread[rows], site=events.site[rows])


def _began_ns(events: Events, heads: Rows) -> Rows:
    ticks_now, now_ns, _ = _native.ring_clock()
    ago = ticks_now - events.records["start"][heads].astype(np.int64)
    return now_ns - ago * (events.tick_ps / 1000)
