"""Per Python line: the number of calls into native code, and their time."""

# SPDX-License-Identifier: MIT
import numpy as np

from inspector.facts.conversion import Crossing
from inspector.facts.unknown import Unknown
from inspector.tracing.ask.nesting import TOP, Nesting
from inspector.tracing.events.decode import KINDS, Events, Rows

_NO_CLOCK = Unknown("no clock was read")
_NO_CONVERSIONS = Unknown("no conversion was recorded")


def crossings(events: Events, nesting: Nesting, ns: Rows) -> tuple[Crossing, ...]:
    """The lines, by first call; time counts only the outermost calls."""
    site = _sites(events, nesting)
    outermost = nesting.is_call & (nesting.owner == TOP)
    is_capi = events.records["kind"][nesting.heads] == KINDS["CAPI"]
    count = len(events.sites)
    times = events.times()[nesting.heads]
    calls = np.bincount(site[nesting.is_call], weights=times[nesting.is_call], minlength=count)
    conversions = np.bincount(site[is_capi], weights=times[is_capi], minlength=count)
    call_ns = np.bincount(site[outermost], weights=ns[outermost], minlength=count)
    crossing_ns = np.bincount(site[is_capi], weights=_own(nesting, ns)[is_capi], minlength=count)
    crossed = site[nesting.is_call | is_capi]
    first = np.full(count, TOP)
    first[crossed[::-1]] = np.arange(len(crossed))[::-1]  # of equal ones the last stays
    return tuple(
        Crossing(
            site=events.sites[one],
            calls=int(calls[one]),
            conversions=int(conversions[one]),
            call_ns=round(float(call_ns[one])) or _NO_CLOCK,
            crossing_ns=round(float(crossing_ns[one])) if conversions[one] else _NO_CONVERSIONS,
        )
        for one in sorted(np.flatnonzero(first != TOP).tolist(), key=first.__getitem__)
    )


def _own(nesting: Nesting, ns: Rows) -> Rows:
    """The time of each record without that of its directly nested records."""
    inner = nesting.parent != TOP
    within = np.bincount(nesting.parent[inner], weights=ns[inner], minlength=len(ns))
    found: Rows = np.maximum(ns - within, 0)
    return found


def _sites(events: Events, nesting: Nesting) -> Rows:
    """The line of each record; a conversion without a line gets that of its call."""
    site = events.site[nesting.heads].copy()
    is_callback = events.records["kind"][nesting.heads] == KINDS["CALLBACK"]
    borrowed = ((site == 0) | is_callback) & (nesting.owner != TOP)
    site[borrowed] = site[nesting.owner[borrowed]]
    return site
