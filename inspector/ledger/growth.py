"""Objects whose count every run of the same code raises, or lowers: regrtest's -R rule for each object.

References that the ledger cannot see (macros, type slots, functions without a row) still change counts. So
the unexplained ones, count minus those that the gc sees, are noted between runs (native/leaks/unexplained.c).
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from typing import Final, cast

from inspector import _native
from inspector.facts.leaks import Drift
from inspector.facts.refs import Owner
from inspector.ledger.disguised import disguised
from inspector.ledger.hidden_owners import hidden_owners
from inspector.ledger.owners import BORROWING, owners_of, said
from inspector.ledger.suspects import shown
from inspector.objects.classes import is_heap_type
from inspector.objects.ownership.rows import is_kind

ROWS_MAX: Final = 1 << 12
SEARCHED_MAX: Final = 256
LIKE_MAX: Final = 8
"""Objects of one type, made in one run, whose owners are searched."""
SHARED: Final = 1 << 8
"""References above which owners are not searched, as for None."""


class Growth:
    """Notes between runs: one before the first, one after each."""

    RUNS_MAX: Final = 7
    RUNS_LEAST: Final = 3
    """Least number of runs that prove a drift."""

    def __init__(self) -> None:
        self.moved: list[tuple[_native.Subject, Drift]] = []
        """Of the objects that existed before the first run: those whose counts every run changed."""

    def note(self) -> None:
        """Note the unexplained references of every object, after a garbage collection."""
        gc.collect()
        _native.unexplained_note(0)

    def end(self) -> tuple[Drift, ...]:
        """Take the last note; return the counts that every run changed, if no owner in memory explains it."""
        gc.collect()
        rows, _ = _native.unexplained_note(ROWS_MAX)
        self.moved, grown = _drifts(rows)
        return (*(drift for _, drift in self.moved), *grown)

    def forget(self) -> None:
        """Discard all notes; a second call does nothing."""
        _native.unexplained_forget()


def _drifts(
    rows: list[_native.UnexplainedRow],
) -> tuple[list[tuple[_native.Subject, Drift]], list[Drift]]:
    """Of objects that existed before, each with its drift; of new ones and of what C memory holds."""
    runs = max((first + len(counts) - 1 for _, _, first, counts in rows), default=0)
    kept = [row for row in rows if row[2] == 0 and not _is_small(row)]
    by_run: dict[str, dict[int, list[_native.UnexplainedRow]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row[2]:
            by_run[row[1]][row[2]].append(row)
    grown = {name: runs_of for name, runs_of in by_run.items() if len(runs_of) == runs}
    asked = kept + [row for each in grown.values() for some in each.values() for row in some[:LIKE_MAX]]
    found = _explained(asked[:SEARCHED_MAX])
    moved = [(row[0], found[row[0].address]) for row in kept if row[0].address in found]
    least = Growth.RUNS_LEAST
    open_ones = [(subject, one) for subject, one in moved if _is_open(one) and len(one.changes) >= least]
    held = [one for _, one in moved if one.kept]
    return open_ones, [one for one in (*held, *_grown(grown, found)) if len(one.changes) >= least]


def _is_small(row: _native.UnexplainedRow) -> bool:
    """Whether it is a small int that all code shares: what keeps it may be known to no collector, as (3,)."""
    return row[1] == "int" and _count(row[0]) >= SHARED


def _grown(grown: dict[str, dict[int, list[_native.UnexplainedRow]]], found: dict[int, Drift]) -> list[Drift]:
    """One drift for each type of which every run left objects: without an owner, or kept by C memory."""
    drifts = []
    for runs_of in grown.values():
        rows_of = [rows for _, rows in sorted(runs_of.items())]
        left = [[found[row[0].address] for row in rows if row[0].address in found] for rows in rows_of]
        counts = tuple(map(len, rows_of))
        for is_chosen in (_is_open, _is_kept):
            each = [[one for one in some if is_chosen(one)] for some in left]
            if all(each):
                kept = is_chosen is _is_kept
                drifts.append(replace(each[-1][-1], changes=counts, objects=sum(counts), kept=kept))
                break
    return drifts


def _is_kept(one: Drift) -> bool:
    """Whether it lives by pointers in C memory."""
    is_kept = one.possible_owners > 0 and one.references > one.certain_owners
    return is_kept and one.searched and not _is_open(one)


def _is_open(one: Drift) -> bool:
    """Whether references remain unexplained after the owners found in memory."""
    fell = one.changes[0] < 0
    return fell or not one.searched or one.references > one.certain_owners + one.possible_owners


def _explained(rows: list[_native.UnexplainedRow]) -> dict[int, Drift]:
    searched = [subject for subject, *_ in rows if _count(subject) < SHARED]
    owners, did = owners_of(searched)
    if did["truncated"]:  # not all places were read: a missing owner proves nothing
        rows, owners = [row for row in rows if not row[2]], {}
    hidden = hidden_owners(searched)
    words = disguised([row[0] for row in rows if row[2] and _count(row[0]) < SHARED])
    drifts = {}
    for subject, name, first, counts in rows:
        some = owners.get(subject.address, ())
        certain = sum(one.references for one in some if one.certain)
        borrowing = sum(one.references for one in some if not one.certain and one.kind in BORROWING)
        in_doubt = borrowing + words[subject.address]
        drift = Drift(
            shown=shown(subject),
            type_name=name,
            fresh=first > 0,
            changes=tuple(b - a for a, b in pairwise(counts)) or (1,),
            objects=1,
            references=_count(subject),
            searched=_count(subject) < SHARED and not did["truncated"],
            certain_owners=certain,
            possible_owners=sum(one.references for one in some)
            - certain
            - borrowing
            + len(hidden.get(subject.address, ())),
            borrowing=in_doubt,
            owners=tuple(said(one) for one in some[:4]),
            heap_type=is_kind(value := subject.get(), type) and is_heap_type(cast(type, value)),
        )
        drifts[subject.address] = drift if first or not _is_kept(drift) else _held(drift, some)
    return drifts


def _held(drift: Drift, owners: Iterable[Owner]) -> Drift:
    """The drift of an object that C memory refers to ever more often; what does so often enough is named."""
    in_memory = [one for one in owners if not one.certain and one.kind not in BORROWING]
    most = [one for one in in_memory if one.references >= sum(drift.changes)][:1]
    return replace(drift, kept=True, owners=tuple(map(said, most)))


def _count(subject: _native.Subject) -> int:
    """Its references; SHARED if the count means nothing."""
    count = subject.refcount()
    return SHARED if count is None else count
