"""Several runs of the same code: the faults that they share, and what native code keeps more of with each."""

# SPDX-License-Identifier: MIT
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from inspector.facts.leaks import DEADLY, OUTSIDE, Drift, KeptByC, Leaks, Suspect, Verdict
from inspector.facts.lost import LostObject
from inspector.facts.unknown import Unknown
from inspector.verdicts.leaks import added, confirmed, key, method_of, of_drifts

_UNVISITED = ("field not visited", "type without tp_traverse")
TO_ONE = "references to one "
"""What grows where no object is left, but one more pointer to the same."""
_MANY = 10
"""Calls that each keep one more reference to the same object: more than a cache or a registry takes."""
_NO_CALL = Unknown("no call lost it: the collector asks tp_traverse, and it leaves the field out")


def over_runs(
    runs: Sequence[Leaks], drifts: tuple[Drift, ...] | None, lost: Sequence[LostObject] = ()
) -> Leaks:
    """The faults that every run shows and the counts that every run changes; others are caches filling.

    `lost`: what nothing reaches after the runs, so that its growth is no keeping.
    """
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
    growing = [one for one in drifts or () if one.kept and not of_lost.issuperset(one.owners or ("",))]
    cycles = {one: row for one in growing if (row := _cycle(one, lost)) is not None}
    found += [_unvisited(one, row) for one, row in cycles.items()]
    growing = [one for one in growing if one not in cycles]  # what lost objects hold is lost with them
    kept = with_growth((row for row in last.kept if not _is_of(row, cycles)), growing)
    return replace(last, verdicts=tuple(found), kept=kept, runs=len(facts), notes=notes)


def _is_of(row: KeptByC, cycles: Iterable[Drift]) -> bool:
    return any(row.object == one.type_name for one in cycles)


def _cycle(drift: Drift, lost: Iterable[LostObject]) -> LostObject | None:
    """How as many such objects as the runs left are lost in cycles, through one kind of field."""
    some = lost if drift.fresh else ()
    rows = (row for row in some if row.cause in _UNVISITED and row.type_name == drift.type_name)
    return next((row for row in rows if row.objects >= sum(drift.changes)), None)


def _unvisited(drift: Drift, row: LostObject) -> Verdict:
    """Counts grow with each run, and a search reaches none of the objects: two witnesses."""
    numbers = ", ".join(f"{one:,}" for one in drift.changes)
    visit = f"Py_VISIT the field at {row.where}, if it owns, in the tp_traverse of {row.holder}"
    has_none = row.cause == "type without tp_traverse"
    return Verdict(
        kind="leaked",
        object=drift.shown,
        certain=row.certain,
        objects=drift.objects,
        references=sum(drift.changes),
        conversion=_NO_CALL,
        stack=(),
        method=f"{row.holder}.tp_traverse",
        rule="tp_traverse visits every reference that the object owns",
        cure=f"give {row.holder} Py_TPFLAGS_HAVE_GC, tp_traverse and tp_clear" if has_none else visit,
        reason=f"{numbers} more after each of {len(drift.changes)} runs, in cycles that no collection frees: "
        f"the field at {row.where} is not visited",
        owners=drift.owners,
    )


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
    """The rows, with the growth of their type or of the references to one; what has no row gets one."""
    by_name: dict[str, Drift] = {}
    for drift in growing:
        by_name[drift.type_name if drift.fresh else TO_ONE + drift.shown] = drift
    to_one = {drift.type_name: name for name, drift in by_name.items() if not drift.fresh}
    rows = [
        replace(row, object=to_one[row.object]) if row.objects == 1 and row.object in to_one else row
        for row in kept
    ]
    rows = [
        replace(row, growth=by_name.pop(row.object).changes) if row.object in by_name else row for row in rows
    ]
    rows += [
        KeptByC(name, drift.objects, next(iter(drift.owners), ""), "", drift.changes)
        for name, drift in by_name.items()
    ]
    return tuple(rows)


def kept(suspects: Iterable[Suspect]) -> tuple[KeptByC, ...]:
    """Objects whose references C memory explains: static data, a cache, a struct."""
    groups: dict[tuple[str, str, str, int], int] = {}
    for obj in suspects:
        missing = obj.references - obj.certain_owners
        if not obj.died and 0 < missing <= obj.possible_owners and added(obj) > 0:
            more = _kept_more(obj, missing)
            name = TO_ONE + obj.shown if more else obj.type_name
            where = (name, obj.native_holder, method_of(obj), more)
            groups[where] = groups.get(where, 0) + 1
    return tuple(
        KeptByC(name, count, holder, method, (more,) if more else ())
        for (name, holder, method, more), count in groups.items()
    )


def _kept_more(obj: Suspect, in_memory: int) -> int:
    """References that C memory took in many calls, as a list that is never emptied; 0 if it did not."""
    each = obj.unbalanced_calls >= _MANY and obj.balance >= obj.unbalanced_calls
    is_sure = obj.relation == "itself" and not obj.fresh and not obj.blurred and in_memory >= obj.balance
    return obj.balance if each and is_sure else 0
