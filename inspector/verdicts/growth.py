"""Several runs of the same code: the faults that they share, and what native code keeps more of with each."""

# SPDX-License-Identifier: MIT
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from inspector.facts.leaks import DEADLY, OUTSIDE, Drift, KeptByC, Leaks, Verdict
from inspector.verdicts.leaks import confirmed, key, of_drifts


def over_runs(runs: Sequence[Leaks], drifts: tuple[Drift, ...] | None) -> Leaks:
    """The faults that every run shows and the counts that every run changes; others are caches filling."""
    last = runs[-1]
    apart = tuple(one for one in last.verdicts if one.kind == OUTSIDE)  # judged over all runs
    facts = [replace(fact, verdicts=tuple(one for one in fact if one.kind != OUTSIDE)) for fact in runs]
    shared = _shared(facts)
    if drifts is not None:  # an uncertain one counts only if the count falls with every run
        fell = {key(one) for one in last.verdicts if one.kind in DEADLY and not one.certain}
        shared = {known: one for known, one in shared.items() if known not in fell}
    once = sum(key(one) not in shared for fact in facts for one in fact.verdicts)
    notes = last.notes + ((f"{once} seen in some runs only: a cache that filled",) if once else ())
    moved = tuple(one for one in drifts or () if not one.kept)
    verdicts = confirmed(tuple(shared.values()), moved)
    found = sorted((*verdicts, *of_drifts(moved, verdicts), *apart), key=lambda one: not one.certain)
    of_lost = {f"<{one.object_type}>" for one in found if one.kind == "leaked"}
    growing = (one for one in drifts or () if one.kept and not of_lost.issuperset(one.owners or ("",)))
    kept = with_growth(last.kept, growing)  # what lost objects hold is lost with them
    return replace(last, verdicts=tuple(found), kept=kept, runs=len(facts), notes=notes)


def _shared(facts: Sequence[Leaks]) -> dict[tuple[object, ...], Verdict]:
    """The verdicts that every run shows; a certain leak may miss one of three: an old word hides it."""
    seen = Counter(one for fact in facts for one in {key(one) for one in fact.verdicts})
    latest = {key(one): one for fact in facts for one in fact.verdicts}
    shared = {}
    for known, one in latest.items():
        runs = seen[known]
        if runs == len(facts):
            again = f"again in each of {runs} runs"
        elif one.certain and one.kind not in DEADLY and 2 <= runs == len(facts) - 1:
            again = f"again in {runs} of {len(facts)} runs"
        else:
            continue
        shared[known] = replace(one, reason=f"{one.reason}; {again}")
    return shared


def with_growth(kept: Iterable[KeptByC], growing: Iterable[Drift]) -> tuple[KeptByC, ...]:
    """The rows, with the growth of their type; a type without a row gets one."""
    by_type = {drift.type_name: drift for drift in growing}
    rows = [
        replace(row, growth=by_type.pop(row.object).changes) if row.object in by_type else row for row in kept
    ]
    rows += [
        KeptByC(name, drift.objects, next(iter(drift.owners), ""), "", drift.changes)
        for name, drift in by_type.items()
    ]
    return tuple(rows)
