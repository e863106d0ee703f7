"""Verdicts on references: from counts, owners and deaths, never from matching calls (macros hide those).

An object alive whose count exceeds the owners found was leaked; one whose owners exceed its count, or that
died with owners, was released too often. Where another explanation is left the verdict is not certain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from inspector.facts.leaks import Dangling, Drift, Fault, KeptByC, Kind, Suspect, Touch, Verdict
from inspector.facts.unknown import Unknown

_NOT_SEEN = Unknown("no hooked call made or took it: a macro did, or a function without a row in capi.def")
_RULES: Final[dict[str, tuple[str, str]]] = {
    "NULL without an exception": (
        "a function that returns NULL sets an exception first",
        "PyErr_SetString before return NULL",
    ),
    "result with an exception set": (
        "a function that returns a result leaves no exception set",
        "return NULL, or PyErr_Clear where the failure is expected",
    ),
    "C-API call without the GIL": (
        "a thread calls the C-API only while it holds the GIL",
        "PyGILState_Ensure, or end Py_BEGIN_ALLOW_THREADS before it",
    ),
    "borrowed reference stolen": (
        "a function owns what it returns: arguments are borrowed",
        "Py_INCREF before return, or Py_NewRef",
    ),
}
_REASONS: Final = {
    "over-released": "an argument died during the call, while its caller held it",
    "borrowed reference stolen": "its result holds an argument, and no reference was taken for it",
}
_STEALING: Final = ("stolen",)
_OBTAINING: Final = ("new", "stored", "replaced")
_OTHER: Final = ("kept", "borrowed", "unbalanced")
_LAST: Final = ("died", "new", "unbalanced")


def verdicts(
    suspects: Iterable[Suspect],
    faults: Iterable[Fault],
    dangling: Iterable[Dangling] = (),
    alone: bool = True,
) -> tuple[Verdict, ...]:
    """All verdicts, like ones as one, certain ones first. `alone`: no other run is there to compare with."""
    found = [one for suspect in suspects if (one := _verdict(suspect, alone)) is not None]
    found += [_of_fault(fault) for fault in faults]
    found += [_of_dangling(one) for one in dangling]
    groups: dict[tuple[object, ...], list[Verdict]] = {}
    for one in found:
        groups.setdefault(key(one), []).append(one)
    return tuple(sorted(map(_together, groups.values()), key=lambda one: not one.certain))


def key(one: Verdict) -> tuple[object, ...]:
    """What makes two verdicts the same fault."""
    made = one.conversion if isinstance(one.conversion, Touch) else None
    return one.kind, one.method, one.object.partition(" ")[0], made and (made.function, str(made.source))


def kept(suspects: Iterable[Suspect]) -> tuple[KeptByC, ...]:
    """What C memory accounts for: a static, a cache, a struct."""
    groups: dict[tuple[str, str, str], int] = {}
    for one in suspects:
        missing = one.references - one.certain_owners
        if not one.died and 0 < missing <= one.possible_owners and _unexplained(one) > 0:
            where = (one.type_name, one.native_holder, _method(one))
            groups[where] = groups.get(where, 0) + 1
    return tuple(KeptByC(name, count, holder, method) for (name, holder, method), count in groups.items())


def _together(group: Sequence[Verdict]) -> Verdict:
    first = next((one for one in group if one.certain), group[0])
    return replace(
        first, objects=sum(one.objects for one in group), references=sum(one.references for one in group)
    )


def _unexplained(one: Suspect) -> int:
    """References that the region added, as far as counts tell."""
    return one.balance if one.balance else one.references - (0 if one.fresh else one.baseline)


def _verdict(one: Suspect, alone: bool) -> Verdict | None:
    if one.died:
        return _of_dead(one)
    if one.certain_owners > one.references:
        lost = one.certain_owners - one.references
        return _over(
            one, lost, True, f"{one.certain_owners} owners were found for {one.references} references"
        )
    if one.balance < 0:
        return _of_fallen(one)
    return _of_unexplained(one, alone)


def _of_dead(one: Suspect) -> Verdict | None:
    if one.certain_owners:
        return _over(one, one.certain_owners, True, f"it was freed while {one.owners[0]} still points at it")
    if one.references < 0:
        many = f"{-one.references} reference{'s' if one.references < -1 else ''}"
        return _over(one, -one.references, True, f"{many} given back after it was freed")
    return None


def _of_fallen(one: Suspect) -> Verdict | None:
    lost = -one.balance
    counted = f"{lost} fewer after {one.unbalanced_calls} call{'s' if one.unbalanced_calls > 1 else ''}"
    if one.relation != "itself":
        why = f"its count is {counted}, and nothing that held it died"
        if one.relation == "type":  # instances that died, or are kept for reuse: which hold it is theirs
            return None
        if one.blurred and one.falls_in_a_row < 3:
            return _over(one, lost, False, f"its count is {counted}; what died meanwhile may have held it")
        return _over(one, lost, True, why)
    if one.references < one.certain_owners + one.possible_owners:
        return _over(one, lost, False, f"its count is {counted}, and C memory points at it still")
    return None


def _of_unexplained(one: Suspect, alone: bool) -> Verdict | None:
    unexplained = one.references - one.certain_owners - one.possible_owners
    leaked = min(_unexplained(one), unexplained)
    shared = not one.fresh and not one.balance  # others take references too: only an exact account counts
    if leaked <= 0 or (shared and (one.possible_owners or one.borrowing or unexplained != leaked)):
        return None
    certain = not one.possible_owners and not one.borrowing and (one.fresh or unexplained == leaked)
    if alone and not one.fresh and unexplained > leaked:  # some were unexplained before: which are these?
        return None
    said = f"{_many(one.references, 'reference')}, {_many(one.certain_owners, 'owner')} found"
    is_name = one.type_name == "str" and not any(touch.role == "kept" for touch in one.touches)
    if is_name or not _method(one):  # the cache of attributes owns names where nobody looks; imports more
        certain = False
    if one.borrowing:
        said += f"; {_many(one.borrowing, 'pointer')} on C stacks or in unknown memory may hold some"
    elif one.possible_owners:
        said += f"; {_many(one.possible_owners, 'pointer')} in C memory may hold some"
    elif not certain:
        said += "; the interpreter's caches hold names unseen" if is_name else "; no call from Python made it"
    return _leaked(one, leaked, certain, said)


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' if count != 1 else ''}"


def _leaked(one: Suspect, count: int, certain: bool, reason: str) -> Verdict:
    made = _last(one.touches, ("new", "stored", "replaced")) or _last(
        one.touches, ("kept", "borrowed", "unbalanced")
    )
    kind: Kind = "leaked"
    rule, cure = _rule_of_leak(one, made)
    if one.type_name == "PyCapsule":
        kind = "capsule leaked"
    elif buffer := _open_buffer(one.touches):
        kind, made = "buffer not released", buffer
        rule = "PyObject_GetBuffer keeps a reference to the exporter until PyBuffer_Release"
        cure = "PyBuffer_Release on every way out"
    return _made(one, kind, certain, count, made, rule, cure, reason)


def _over(one: Suspect, count: int, certain: bool, reason: str) -> Verdict:
    taken = _last(one.touches, _STEALING)
    lent = _last(one.touches, ("borrowed",))
    kind: Kind = "borrowed reference stolen" if taken or one.relation != "itself" else "over-released"
    if taken:
        rule = f"{taken.function} steals its {taken.parameter}: the reference is no longer yours"
        cure = f"Py_INCREF({taken.parameter}) before {_where(taken)}"
    elif one.relation == "dtype":
        rule = "functions that take a PyArray_Descr * steal it (PyArray_Empty, PyArray_NewFromDescr, ...)"
        cure = "Py_INCREF the descr first: PyArray_DESCR only lends it"
    elif lent:
        rule = f"{lent.function} lends its result: it must not be released"
        cure = f"no Py_DECREF of what {_where(lent)} gave, or Py_INCREF first"
    else:
        rule = "who releases a reference owns it: arguments are borrowed"
        cure = "one Py_DECREF less, or Py_INCREF first"
    return _made(
        one,
        kind,
        certain,
        count,
        taken or lent or _last(one.touches, ("died", "new", "unbalanced")),
        rule,
        cure,
        reason,
    )


def _rule_of_leak(one: Suspect, made: Touch | None) -> tuple[str, str]:
    keeping = next((touch for touch in one.touches if touch.role == "kept"), None)
    if made is None or made.role in ("kept", "unbalanced"):
        return "who takes a reference gives it back", "Py_DECREF what Py_INCREF took"
    if keeping and made.role in ("new", "stored"):
        theirs = f"{keeping.function} does not steal its {keeping.parameter}"
        return (
            f"{made.function} returns a new reference; {theirs}",
            f"release it: Py_DECREF after {_where(keeping)}",
        )
    return f"{made.function} returns a new reference", f"Py_DECREF what {_where(made)} gave"


def _where(touch: Touch) -> str:
    return touch.source if isinstance(touch.source, str) else touch.function


def _last(touches: Sequence[Touch], roles: tuple[str, ...]) -> Touch | None:
    return next((touch for touch in reversed(touches) if touch.role in roles), None)


def _open_buffer(touches: Sequence[Touch]) -> Touch | None:
    """The latest PyObject_GetBuffer without a release."""
    still: list[Touch] = []
    for touch in touches:
        if touch.function == "PyObject_GetBuffer":
            still.append(touch)
        elif touch.function == "PyBuffer_Release" and still:
            still.pop()
    return still[-1] if still else None


def _method(one: Suspect) -> str:
    return next((touch.method for touch in one.touches if touch.method), "")


def _made(
    one: Suspect, kind: Kind, certain: bool, count: int, made: Touch | None, rule: str, cure: str, reason: str
) -> Verdict:
    return Verdict(
        kind=kind,
        object=one.shown,
        certain=certain,
        objects=1,
        references=count,
        conversion=made or _NOT_SEEN,
        stack=one.touches,
        method=made.method if made and made.method else _method(one),
        rule=rule,
        cure=cure,
        reason=reason,
        owners=one.owners,
    )


def of_drifts(drifts: Iterable[Drift], known: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """What every run moved, where no verdict of the calls says it already."""
    said = {_moved(one) for one in known}
    return tuple(one for one in map(_of_drift, drifts) if _moved(one) not in said)


def confirmed(known: Sequence[Verdict], drifts: Sequence[Drift]) -> tuple[Verdict, ...]:
    """The verdicts of the calls: certain where every run left as many such objects, and nobody reaches one.

    Where several verdicts are of one type it is not known which of them the counts confirm.
    """
    told = Counter(_moved(one) for one in known)
    counted = [(_of_drift(one), one.changes[-1]) for one in drifts]
    sure = {_moved(one): (left, one.reason) for one, left in counted if one.certain}
    return tuple(
        replace(one, certain=True, reason=f"{one.reason}; {sure[_moved(one)][1]}")
        if told[_moved(one)] == 1 and not one.certain and one.objects <= sure.get(_moved(one), (0, ""))[0]
        else one
        for one in known
    )


def _moved(one: Verdict) -> tuple[bool, str]:
    """Whether references grew or fell, and of what type."""
    return one.kind not in ("over-released", "borrowed reference stolen"), one.object.partition(" ")[0]


_BALANCE: Final = (
    ("who releases a reference owns it: arguments are borrowed", "one Py_DECREF less, or Py_INCREF first"),
    ("who takes a reference gives it back", "one Py_DECREF more"),
)
_INSTANCES: Final = "each instance of a heap type holds one reference to it, which its tp_dealloc gives back"
_HEAP_TYPE: Final = (
    (
        _INSTANCES,
        "where it falls by one an instance: Py_DECREF(type) only once in tp_dealloc",
    ),
    (_INSTANCES, "where it grows by one an instance: Py_DECREF(type) at the end of tp_dealloc"),
)
"""Rule and cure of references that fell, and of those that grew."""


def _of_drift(one: Drift) -> Verdict:
    grew = one.changes[0] > 0
    numbers = ", ".join(f"{abs(change)}" for change in one.changes)
    what = "objects left over" if one.fresh else f"references {'more' if grew else 'fewer'}"
    why = f"{numbers} {what} after each of {len(one.changes)} runs, and no owner was found"
    if not one.searched:
        why = f"{numbers} {what} after each of {len(one.changes)} runs; too many hold it to search them"
    elif one.borrowing:
        why += f"; {one.borrowing} pointers on C stacks or in unknown memory may hold some"
    rule, cure = (_HEAP_TYPE if one.heap_type else _BALANCE)[grew]
    return Verdict(
        kind="leaked" if grew else "over-released",
        object=one.shown,
        certain=one.fresh and not one.possible_owners and not one.borrowing,
        objects=one.objects,
        references=sum(map(abs, one.changes)),
        conversion=_NOT_SEEN,
        stack=(),
        method="",
        rule=rule,
        cure=cure,
        reason=why,
        owners=one.owners,
    )


def crash(signal: str, where: Touch | Unknown, place: str, *, watched: bool) -> Verdict:
    """The code ended its process, a copy of this one or a program of its own, by a signal."""
    return Verdict(
        kind="crash",
        object="",
        certain=not watched,
        objects=0,
        references=0,
        conversion=where,
        stack=(),
        method="",
        rule="native code returns errors; it does not end the process",
        cure="inspector debug shows the C stack of the crash",
        reason=f"{signal} in {place}" + (", while it was watched" if watched else ""),
        owners=(),
    )


def _of_fault(fault: Fault) -> Verdict:
    rule, cure = _RULES.get(fault.kind, ("who releases a reference owns it", "one Py_DECREF less"))
    reason = "seen at the call" if fault.touch.function else "seen as the call returned"
    reason = _REASONS.get(fault.kind, reason)
    return Verdict(
        kind=fault.kind,
        object=fault.shown,
        certain=True,
        objects=1,
        references=0,
        conversion=fault.touch,
        stack=(fault.touch,),
        method=fault.touch.method,
        rule=rule,
        cure=cure,
        reason=reason,
        owners=(),
    )


def _of_dangling(one: Dangling) -> Verdict:
    kept = "its memory was freed while it lived, and is kept apart since"
    gone = "its memory was freed while it lived; its address may be another's, or its owner's again, by now"
    return Verdict(
        kind="dangling view",
        object=one.shown,
        certain=one.kept,
        objects=1,
        references=0,
        conversion=one.freed,
        stack=(one.made, one.freed) if isinstance(one.made, Touch) else (one.freed,),
        method=one.freed.method or (one.made.method if isinstance(one.made, Touch) else ""),
        rule="a view lives no longer than the memory it shows",
        cure="an owner: PyArray_SetBaseObject with what owns the memory or frees it, PyMemoryView_FromObject",
        reason=kept if one.kept else gone,
        owners=(),
    )
