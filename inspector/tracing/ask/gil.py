"""GIL releases in a trace: where, for how long, and which threads made records meanwhile."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable

import numpy as np

from inspector.facts.conversion import Released
from inspector.facts.unknown import Unknown
from inspector.tracing.ask.nesting import TOP, Nesting
from inspector.tracing.events.decode import KINDS, Events, Rows

GIVEN_UP, ASKED_FOR = 0, 1
_NO_CLOCK = Unknown("no clock was read")


def released(events: Events, nesting: Nesting, name_of: Callable[[int], str]) -> tuple[Released, ...]:
    """For each group of equal calls and each thread, the times from release of the GIL to its request."""
    gave, asked = _pairs(events, nesting)
    if not len(gave):
        return ()
    owner = _owners(events, nesting, gave, asked)
    began, ended = (events.records["start"][nesting.heads[heads]].astype(np.int64) for heads in (gave, asked))
    ns = np.where(began > 0, (ended - began) * (events.tick_ps / 1000), 0.0)
    thread = events.thread[nesting.heads[gave]]
    meanwhile = _meanwhile(events, nesting, began, ended, thread)
    times, more_ns, longest = _further(events, nesting, asked)
    longest = np.maximum(longest, ns)
    key = np.where(owner == TOP, TOP, nesting.group[owner]) * len(events.threads) + thread
    found = []
    for one in np.unique(key).tolist():
        same = np.flatnonzero(key == one)
        row = int(nesting.heads[owner[same[0]]]) if owner[same[0]] != TOP else None
        others = {ident: int(counts[same].sum()) for ident, counts in meanwhile.items()}
        found.append(
            Released(
                function="" if row is None else name_of(row),
                site=events.sites[0 if row is None else events.site[row]],
                thread=events.threads[int(thread[same[0]])],
                times=int(times[same].sum()),
                released_ns=round(float((ns + more_ns)[same].sum())) or _NO_CLOCK,
                longest_ns=round(float(longest[same].max())) or _NO_CLOCK,
                meanwhile={ident: count for ident, count in others.items() if count},
            )
        )
    return tuple(sorted(found, key=_longest_first))


def _further(events: Events, nesting: Nesting, asked: Rows) -> tuple[Rows, Rows, Rows]:
    """Of each request: how often it came, and of those without a record the time in all and at most."""
    rows, of = events.sums()
    found = np.zeros((2, len(events)))
    found[:, of] = events.records["aux"][rows], events.records["obj"][rows]
    sums, longest = found[:, nesting.heads[asked]] * (events.tick_ps / 1000)
    return events.times()[nesting.heads[asked]], sums, longest


def _pairs(events: Events, nesting: Nesting) -> tuple[Rows, Rows]:
    """Heads that release the GIL, and for each the next head of its thread, which requests it."""
    heads = np.flatnonzero(events.records["kind"][nesting.heads] == KINDS["GIL"])
    heads = heads[events.records["func"][nesting.heads[heads]] <= ASKED_FOR]
    says, thread = events.records["func"][nesting.heads[heads]], events.thread[nesting.heads[heads]]
    at = np.flatnonzero((says[:-1] == GIVEN_UP) & (says[1:] == ASKED_FOR) & (thread[:-1] == thread[1:]))
    return heads[at], heads[at + 1]


def _owners(events: Events, nesting: Nesting, gave: Rows, asked: Rows) -> Rows:
    """The call that released it: the enclosing one, else the foreign call of its thread that needed it."""
    owner = nesting.owner[gave].copy()
    rows, kinds = nesting.heads, events.records["kind"][nesting.heads]
    foreign = np.flatnonzero(kinds == KINDS["FOREIGN"])
    for number in range(len(events.threads)):
        of_thread = foreign[events.thread[rows[foreign]] == number]
        starts = np.append(events.records["start"][rows[of_thread]], np.iinfo(np.uint64).max)
        order = np.argsort(starts, kind="stable")
        alone = np.flatnonzero((owner == TOP) & (events.thread[rows[gave]] == number))
        at = np.searchsorted(starts[order], events.records["start"][rows[gave[alone]]])
        inside = starts[order[at]] < events.records["start"][rows[asked[alone]]]
        owner[alone[inside]] = of_thread[order[at[inside]]]
    return owner


def _meanwhile(events: Events, nesting: Nesting, began: Rows, ended: Rows, thread: Rows) -> dict[int, Rows]:
    """Thread -> number of its records that began in each interval of another thread."""
    starts = events.records["start"][nesting.heads].astype(np.int64)
    found = {}
    for number, ident in enumerate(events.threads):
        mine = np.sort(starts[(events.thread[nesting.heads] == number) & (starts > 0)])
        count = np.searchsorted(mine, ended) - np.searchsorted(mine, began)
        found[ident] = np.where((thread == number) | (began == 0), 0, count)
    return found


def _longest_first(one: Released) -> tuple[float, str]:
    return (0.0 if isinstance(one.released_ns, Unknown) else -float(one.released_ns), one.function)
