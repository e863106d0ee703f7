"""The call that encloses each record, and groups of equal calls: by columns, without a loop over records."""

# SPDX-License-Identifier: MIT
from dataclasses import dataclass

import numpy as np

from inspector.facts.conversion import Site
from inspector.facts.unknown import Unknown
from inspector.tracing.events.decode import CALL_KINDS, FLAGS, KINDS, Events, Rows, among

TOP = -1
_LEVELS_MAX = 64


@dataclass(frozen=True, slots=True)
class Nesting:
    """Rows of calls and conversions, their enclosing calls, and groups of equal calls."""

    heads: Rows
    """Row numbers of all records except continuations."""
    stops: Rows
    """For each head, the row number after its last continuation."""
    is_call: Rows
    parent: Rows
    """For each head, the index into `heads` of the enclosing record; TOP without one."""
    owner: Rows
    """For each head, the index into `heads` of the enclosing call; TOP without one."""
    group: Rows
    """For each head that is a call, the number of its group; -1 for others."""
    group_parent: Rows
    """For each group, the enclosing group, or TOP."""
    group_first: Rows
    """For each group, the index into `heads` of its first call."""


def nested(events: Events) -> Nesting:
    """The nesting of a trace. Equal calls are in equal calls, on one line, of one patched place."""
    records = events.records
    heads = np.flatnonzero((records["flags"] & FLAGS["CONTINUATION"]) == 0)
    stops = np.append(heads[1:], len(records)).astype(np.int64)
    is_call = among(records["kind"][heads], CALL_KINDS) & ~_into_libraries(events, heads)
    parent = parents(events, heads)
    owner = _owners(parent, is_call)
    group, group_parent, first = _groups(events, heads, is_call, owner)
    return Nesting(heads, stops, is_call, parent, owner, group, group_parent, first)


def _into_libraries(events: Events, heads: Rows) -> Rows:
    """Callbacks into Python code of installed packages, which are skipped like their frames."""
    is_callback = events.records["kind"][heads] == KINDS["CALLBACK"]
    is_library = np.array([_is_library(site) for site in events.sites] or [False])
    found: Rows = is_callback & is_library[events.site[heads]]
    return found


def _is_library(site: Site) -> bool:
    """The same rule by which native/trace/values/call_values.c chooses the line of a call."""
    file = site.file
    if isinstance(file, Unknown):
        return True
    return (
        "-packages/" in file or "/lib/python3" in file or file.startswith(("<frozen", "<__array_function__"))
    )


def parents(events: Events, heads: Rows) -> Rows:
    """For each head the next one of its thread with less depth and no later start: it returned later."""
    depth = events.records["depth"][heads].astype(np.int32)
    thread, start = events.thread[heads], events.records["start"][heads]
    parent = np.full(len(heads), TOP, np.int64)
    can_hold = (events.records["flags"][heads] & FLAGS["ENTRY"]) == 0
    for level in range(1, int(depth.max(initial=0)) + 1):
        deeper = np.flatnonzero(depth == level)
        less = np.flatnonzero((depth < level) & can_hold)
        at = np.searchsorted(less, deeper)
        inside = at < len(less)
        found = less[np.minimum(at, len(less) - 1)] if len(less) else np.zeros(len(deeper), np.int64)
        inside &= thread[found] == thread[deeper]
        inside &= (start[deeper] == 0) | (start[found] == 0) | (start[found] <= start[deeper])
        parent[deeper[inside]] = found[inside]
    return parent


def _owners(parent: Rows, is_call: Rows) -> Rows:
    owner = parent.copy()
    for _ in range(_LEVELS_MAX):
        through = (owner != TOP) & ~is_call[owner]
        if not through.any():
            break
        owner[through] = parent[owner[through]]
    return owner


def _groups(events: Events, heads: Rows, is_call: Rows, owner: Rows) -> tuple[Rows, Rows, Rows]:
    """Group equal calls level by level, since the outer calls must be equal too."""
    rows = heads[is_call]
    group = np.full(len(heads), TOP, np.int64)
    parents: list[Rows] = []
    firsts: list[Rows] = []
    keys = _place_keys(events, rows)
    key_of = np.zeros(len(heads), np.int64)
    key_of[is_call] = keys
    waiting = np.flatnonzero(is_call & (owner == TOP))
    made = 0
    while len(waiting):
        above = np.where(owner[waiting] == TOP, TOP, group[owner[waiting]])
        width = int(keys.max(initial=0)) + 1
        inverse = _numbered((above + 1) * width + key_of[waiting])
        first = np.empty(int(inverse.max()) + 1, np.int64)
        first[inverse[::-1]] = np.arange(len(inverse))[::-1]  # of equal ones the last stays
        group[waiting] = inverse + made
        parents.append(above[first])
        firsts.append(waiting[first])
        made += len(first)
        now = np.zeros(len(heads) + 1, bool)
        now[waiting] = True
        waiting = np.flatnonzero(is_call & (owner != TOP) & now[owner])
    empty = np.empty(0, np.int64)
    return (group, np.concatenate(parents) if parents else empty, np.concatenate(firsts) if firsts else empty)


def _place_keys(events: Events, rows: Rows) -> Rows:
    """A number for each (patched place, kind, line): equal for equal ones; callbacks by line."""
    kind = events.records["kind"][rows]
    slot = np.where(kind == KINDS["CALLBACK"], 0, events.records["slot"][rows]).astype(np.int64)
    place = slot * len(KINDS) + kind
    return _numbered(place * (len(events.sites) + 1) + events.site[rows])


def _numbered(keys: Rows) -> Rows:
    """Equal keys as equal small numbers, in order: without sorting where their range is small."""
    most = int(keys.max(initial=0)) + 1
    if most > max(4 * len(keys), 1 << 16) or keys.min(initial=0) < 0:
        return np.unique(keys, return_inverse=True)[1].astype(np.int64)
    known = np.zeros(most, bool)
    known[keys] = True
    found: Rows = (np.cumsum(known) - 1)[keys]
    return found
