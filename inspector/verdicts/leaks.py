"""Verdicts on references: from refcounts, owners and deaths, never by matching calls (macros hide calls).

A live object with more references than owners found was leaked. An object with more owners than references,
or freed while it had owners, was over-released. If another explanation remains, the verdict is not certain.
"""

# SPDX-License-Identifier: MIT
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from inspector.facts.amounts import counted
from inspector.facts.leaks import Dangling, Drift, Fault, Kind, Suspect, Touch, Verdict
from inspector.facts.unknown import Unknown
from inspector.verdicts.leak_lines import OBTAINING, STEALING, may_have_lost, open_buffer

_NOT_SEEN = Unknown("no hooked call created or took it: a macro did, or a function missing in capi.def")
_SHARED: Final = "returned without a reference"
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
    _SHARED: ("a function owns what it returns, None and the truths too", "Py_RETURN_NONE, or Py_NewRef"),
}
_REASONS: Final = {
    _SHARED: "it was returned, and its count did not rise; what let it go meanwhile may explain it",
    "over-released": "the call freed an argument that its caller still held",
    "borrowed reference stolen": "its result holds an argument without taking a reference",
}
_OTHER: Final = ("kept", "borrowed", "unbalanced", "outlived")
_LAST: Final = ("died", "new", "unbalanced")


def verdicts(
    suspects: Iterable[Suspect],
    faults: Iterable[Fault],
    dangling: Iterable[Dangling] = (),
    alone: bool = True,
) -> tuple[Verdict, ...]:
    """All verdicts, equal ones merged, certain ones first. `alone`: there is no other run to compare with."""
    judged = {suspect.address: verdict for suspect in suspects if (verdict := _verdict(suspect, alone))}
    told = {f"object at {address:#x}" for address, verdict in judged.items() if verdict.certain}
    found = [*judged.values(), *(_of_fault(fault) for fault in faults if fault.shown not in told)]
    found += [_of_dangling(view) for view in dangling]
    groups: dict[tuple[object, ...], list[Verdict]] = {}
    for verdict in found:
        groups.setdefault(key(verdict), []).append(verdict)
    return tuple(sorted(map(_together, groups.values()), key=lambda verdict: not verdict.certain))


def key(verdict: Verdict) -> tuple[object, ...]:
    """Verdicts with equal keys are the same fault."""
    made = verdict.conversion if isinstance(verdict.conversion, Touch) else None
    place = made and (made.function, str(made.source))
    return verdict.kind, verdict.method, verdict.object.partition(" ")[0], place, verdict.stage


def _together(group: Sequence[Verdict]) -> Verdict:
    first = next((each for each in group if each.certain), group[0])
    objects, references = sum(each.objects for each in group), sum(each.references for each in group)
    return replace(first, objects=objects, references=references)


def added(obj: Suspect) -> int:
    """References that the traced code added, judged by refcounts alone."""
    return obj.balance if obj.balance else obj.references - (0 if obj.fresh else obj.baseline)


def _verdict(obj: Suspect, alone: bool) -> Verdict | None:
    if obj.died:
        return _of_dead(obj)
    if obj.certain_owners > obj.references:
        lost = obj.certain_owners - obj.references
        said = f"{obj.certain_owners} owners were found for {obj.references} references"
        return _over(obj, lost, bool(witness(obj)), f"{said}; {witness(obj) or _ALONE}")
    if obj.balance < 0:
        return _of_fallen(obj)
    return _of_unexplained(obj, alone)


_ALONE: Final = "only the search says so: the collector and the calls on it miss none"


def witness(obj: Suspect) -> str:
    """What says, without the search for owners, that references are missing; "" if nothing does.

    Nobody changes a count on the word of one of them alone.
    """
    if obj.reported > obj.references:
        return f"the collector sees {counted(obj.reported, 'reference')}"
    if obj.balance < 0:
        return f"its count fell by {-obj.balance} in {counted(obj.unbalanced_calls, 'call')}"
    made, taken = _moved_by_calls(obj)
    return f"{counted(taken, 'call')} took a reference, {made} made one" if taken > made else ""


def _moved_by_calls(obj: Suspect) -> tuple[int, int]:
    """How many hooked calls made a reference, and how many took one."""
    made = sum(touch.role in OBTAINING for touch in obj.touches)
    return made, sum(touch.role in (*STEALING, "died") for touch in obj.touches)


def _of_dead(obj: Suspect) -> Verdict | None:
    if obj.certain_owners:
        return _over(obj, obj.certain_owners, True, f"it was freed while {obj.owners[0]} still points to it")
    if obj.references < 0:
        many = f"{-obj.references} reference{'s' if obj.references < -1 else ''}"
        return _over(obj, -obj.references, True, f"{many} released after it was freed")
    return None


def _of_fallen(obj: Suspect) -> Verdict | None:
    lost = -obj.balance
    fell = f"{lost} fewer after {counted(obj.unbalanced_calls, 'call')}"
    if obj.relation != "itself":
        why = f"its count is {fell}, and nothing that held it died"
        if obj.relation == "type":  # instances that died or wait for reuse may have held it
            return None
        if obj.blurred and obj.falls_in_a_row < 3:
            return _over(obj, lost, False, f"its count is {fell}; an object that died may have held it")
        made, taken = _moved_by_calls(obj)
        if made and made >= taken:  # pybind11's arrays: each call took the reference that it made
            return _over(obj, lost, False, f"{why}; the calls seen took no more references than they made")
        return _over(obj, lost, True, why)
    if obj.references < obj.certain_owners + obj.possible_owners:
        return _over(obj, lost, False, f"its count is {fell}, and C memory still points to it")
    return None


def _of_unexplained(obj: Suspect, alone: bool) -> Verdict | None:
    if obj.relation == "type" and not alone:  # the counts of several runs say more
        return None
    unexplained = obj.references - obj.certain_owners - obj.possible_owners
    leaked = min(added(obj), unexplained)
    shared = not obj.fresh and not obj.balance  # others take references too: only an exact count proves
    if leaked <= 0 or (shared and (obj.possible_owners or obj.borrowing or unexplained != leaked)):
        return None
    rose = obj.balance > 0 and not obj.blurred  # in the calls themselves
    if alone and not obj.fresh and unexplained > leaked and not rose:  # some were unexplained before
        return None
    said = f"{counted(obj.references, 'reference')}, {counted(obj.certain_owners, 'owner')} found"
    is_name = obj.type_name == "str" and not any(touch.role == "kept" for touch in obj.touches)
    once = obj.touches and all(touch.is_of_import for touch in obj.touches)
    doubts = (
        (old := obj.borrowing, f"{counted(old, 'pointer')} on C stacks or in unknown memory may hold some"),
        (obj.possible_owners, f"{counted(obj.possible_owners, 'pointer')} in C memory may hold some"),
        (obj.disguised, f"{counted(obj.disguised, 'word')} in memory may lead to it in disguise"),
        (shared and added(obj) > unexplained, "as many may have been lost before"),
        (once, "an import runs once, and may keep it for good"),
        (
            not all(one.change or one.role != "outlived" for one in obj.touches),
            "which call lost it is not known",
        ),
        # The attribute cache owns names that no search finds, and imports leave more of them.
        (is_name, "the interpreter's caches may hold it"),
        (not method_of(obj), "no call from Python created it"),
        (not obj.fresh and unexplained != leaked, "others were unexplained before"),
    )
    doubt = next((f"; {why}" for is_so, why in doubts if is_so), "")
    return _leaked(obj, leaked, not doubt, said + doubt)


def _leaked(obj: Suspect, count: int, certain: bool, reason: str) -> Verdict:
    made = _last(obj.touches, OBTAINING) or _last(obj.touches, _OTHER)
    settled = _last(obj.touches, ("settled",)) if obj.fresh else None
    if settled:
        later = obj.touches[obj.touches.index(settled) + 1 :]
        made = _last(later, OBTAINING) or _last(later, _OTHER)
    if settled and made is None:
        return _lost_later(obj, count, certain, reason, settled)
    candidates = may_have_lost(obj, made) if made and obj.fresh and not settled else ()
    made = candidates[0] if candidates else made
    rule, cure = _rule_of_leak(obj, made)
    if len(candidates) > 1:
        places = " and ".join(dict.fromkeys(map(_where, candidates)))
        cure = f"release what {places} took: one release is missing"
    kind: Kind = "capsule leaked" if obj.type_name == "PyCapsule" else "leaked"
    if obj.type_name != "PyCapsule" and (buffer := open_buffer(obj.touches)):
        kind, made = "buffer not released", buffer
        rule = "PyObject_GetBuffer keeps a reference to the exporter until PyBuffer_Release"
        cure = "PyBuffer_Release on every return path"
    told = _made(obj, kind, certain, count, made, rule, cure, reason)
    return replace(told, method=made.method) if settled and made else told  # not what left it right


_UNHOOKED: Final = Unknown("lost where no hook is: tp_dealloc")


def _lost_later(obj: Suspect, count: int, certain: bool, reason: str, settled: Touch) -> Verdict:
    """The call that made it is innocent, and the one that lost it was not seen: no function is named."""
    rule, cure = _BALANCE[1][0], "a Py_DECREF for the Py_INCREF; Py_CLEAR of each field in tp_dealloc"
    why = f"{reason}; it was right as {settled.method} returned, and was {_UNHOOKED.reason}"
    told = _made(obj, "leaked", certain, count, None, rule, cure, why)
    return replace(told, conversion=_UNHOOKED, method="")


def _over(obj: Suspect, count: int, certain: bool, reason: str) -> Verdict:
    taken = _last(obj.touches, STEALING)
    lent = _last(obj.touches, ("borrowed",))
    kind: Kind = "borrowed reference stolen" if taken or obj.relation != "itself" else "over-released"
    if taken and taken.role == "stolen on failure":
        kind = "over-released" if _released_again(obj, taken) else kind
        rule = f"{taken.function} steals its {taken.parameter} even when it fails"
        cure = _cure_of_failed_steal(obj, taken)
    elif taken:
        rule = f"{taken.function} steals its {taken.parameter}: the reference is no longer yours"
        cure = f"Py_INCREF({taken.parameter}) before {_where(taken)}"
    elif obj.relation == "dtype":
        rule = "functions that take a PyArray_Descr * steal it (PyArray_Empty, PyArray_NewFromDescr, ...)"
        cure = "Py_INCREF the descr first: PyArray_DESCR returns a borrowed reference"
    elif lent:
        rule = f"{lent.function} returns a borrowed reference: it must not be released"
        cure = f"remove the Py_DECREF of the result of {_where(lent)}, or Py_INCREF it first"
    else:
        rule = "release only references you own: arguments are borrowed"
        cure = "remove one Py_DECREF, or Py_INCREF first"
    told = _made(obj, kind, certain, count, taken or lent or _last(obj.touches, _LAST), rule, cure, reason)
    if taken or lent or not obj.touches or obj.touches[-1].role != "settled":
        return told
    why = f"{reason}; it was right as {obj.touches[-1].method} returned"
    return replace(told, conversion=_NOT_SEEN, method="", reason=why)


def _released_again(obj: Suspect, taken: Touch) -> bool:
    """Whether the object was released after a call that failed had stolen it."""
    after = obj.touches[obj.touches.index(taken) :]
    return any(touch.role in ("died", "released") for touch in after) or (obj.fresh and obj.references < 0)


def _cure_of_failed_steal(obj: Suspect, taken: Touch) -> str:
    """A macro's Py_INCREF before the call is not seen; a release after it is."""
    cure = f"no Py_DECREF({taken.parameter}) after {_where(taken)} fails"
    return cure if _released_again(obj, taken) else f"Py_INCREF({taken.parameter}) before it, or {cure}"


def _rule_of_leak(obj: Suspect, made: Touch | None) -> tuple[str, str]:
    later = obj.touches[obj.touches.index(made) :] if made else ()
    keeping = next((touch for touch in later if touch.role == "kept"), None)
    if made and made.role == "outlived":
        return _HEAP_TYPE[1] if obj.relation == "type" else _FIELD
    if made is None or made.role in ("kept", "unbalanced"):
        return "every reference you take must be released", "a Py_DECREF for the Py_INCREF"
    failed = _last(obj.touches, ("not stolen",))
    if failed:
        rule = f"{failed.function} steals its {failed.parameter} only if it succeeds"
        return rule, f"Py_DECREF({failed.parameter}) after {_where(failed)} fails"
    if keeping and made.role in ("new", "stored"):
        theirs = f"{keeping.function} does not steal its {keeping.parameter}"
        rule = f"{made.function} returns a new reference; {theirs}"
        return rule, f"release it: Py_DECREF after {_where(keeping)}"
    return f"{made.function} returns a new reference", f"Py_DECREF the result of {_where(made)}"


def _where(touch: Touch) -> str:
    return touch.source if isinstance(touch.source, str) else touch.function


def _last(touches: Sequence[Touch], roles: tuple[str, ...]) -> Touch | None:
    return next((touch for touch in reversed(touches) if touch.role in roles), None)


def method_of(obj: Suspect) -> str:
    """The first call that touched it; "" if none is known."""
    return next((touch.method for touch in obj.touches if touch.method), "")


def _made(
    obj: Suspect, kind: Kind, certain: bool, count: int, made: Touch | None, rule: str, cure: str, reason: str
) -> Verdict:
    return Verdict(
        kind=kind,
        object=obj.shown,
        certain=certain,
        objects=1,
        references=count,
        conversion=made or _NOT_SEEN,
        stack=obj.touches,
        method=made.method if made and made.method else method_of(obj),
        rule=rule,
        cure=cure,
        reason=reason,
        owners=obj.owners,
    )


def of_drifts(drifts: Iterable[Drift], known: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """Verdicts on drifts that no verdict on calls covers already."""
    covered = {_moved(verdict) for verdict in known}
    return tuple(verdict for verdict in map(_of_drift, drifts) if _moved(verdict) not in covered)


def confirmed(known: Sequence[Verdict], drifts: Sequence[Drift]) -> tuple[Verdict, ...]:
    """The verdicts on calls; certain if every run left at least as many such objects and none is reachable.

    If several verdicts concern one type, the counts confirm none: it is unknown which one they match.
    """
    of_type = Counter(_moved(verdict) for verdict in known)
    left_over = [(_of_drift(verdict), verdict.changes[-1]) for verdict in drifts]
    sure = {_moved(verdict): (left, verdict.reason) for verdict, left in left_over if verdict.certain}
    return tuple(
        replace(verdict, certain=True, reason=f"{verdict.reason}; {sure[_moved(verdict)][1]}")
        if of_type[_moved(verdict)] == 1
        and not verdict.certain
        and verdict.objects <= sure.get(_moved(verdict), (0, ""))[0]
        else verdict
        for verdict in known
    )


def _moved(verdict: Verdict) -> tuple[bool, str]:
    """Whether references grew (else fell), and the type."""
    grew = verdict.kind not in ("over-released", "borrowed reference stolen")
    return grew, verdict.object.partition(" ")[0]


_BALANCE: Final = (
    ("release only references you own: arguments are borrowed", "remove one Py_DECREF, or Py_INCREF first"),
    ("every reference you take must be released", "add one Py_DECREF"),
)
_INSTANCES: Final = "each instance of a heap type holds one reference to it, which tp_dealloc releases"
_FIELD: Final = ("tp_dealloc releases what the object owns", "Py_CLEAR of that field in tp_dealloc")
_HEAP_TYPE: Final = (
    (_INSTANCES, "if it falls by one per instance: Py_DECREF(type) only once in tp_dealloc"),
    (_INSTANCES, "if it grows by one per instance: Py_DECREF(type) at the end of tp_dealloc"),
)
"""(rule, cure) for references that fell, then for those that grew."""


def _of_drift(drift: Drift) -> Verdict:
    grew = drift.changes[0] > 0
    numbers = ", ".join(f"{abs(change)}" for change in drift.changes)
    what = "objects left over" if drift.fresh else f"references {'more' if grew else 'fewer'}"
    why = f"{numbers} {what} after each of {len(drift.changes)} runs, and no owner was found"
    if not drift.searched:
        why = f"{numbers} {what} after each of {len(drift.changes)} runs; too many references to search"
    elif drift.borrowing:
        why += f"; {drift.borrowing} pointers on C stacks or in unknown memory may hold some"
    why += "".join(f"; one more run charges `{one.method}` with {abs(one.change)}" for one in drift.charged)
    rule, cure = (_HEAP_TYPE if drift.heap_type else _BALANCE)[grew]
    return Verdict(
        kind="leaked" if grew else "over-released",
        object=drift.shown,
        certain=drift.fresh and not drift.possible_owners and not drift.borrowing,
        objects=drift.objects,
        references=sum(map(abs, drift.changes)),
        conversion=next(iter(drift.charged), _NOT_SEEN),
        stack=drift.charged,
        method=next((one.method for one in drift.charged), ""),
        rule=rule,
        cure=cure,
        reason=why,
        owners=drift.owners,
    )


def _of_fault(fault: Fault) -> Verdict:
    rule, cure = _RULES.get(fault.kind, ("release only references you own", "remove one Py_DECREF"))
    touch = fault.touch
    reason = _REASONS.get(fault.kind, f"seen {'at the call' if touch.function else 'as the call returned'}")
    if fault.kind == _SHARED:
        method = touch.method
        return Verdict("over-released", fault.shown, False, 1, 1, touch, (touch,), method, rule, cure, reason)
    return Verdict(fault.kind, fault.shown, True, 1, 0, touch, (touch,), touch.method, rule, cure, reason)


def _of_dangling(view: Dangling) -> Verdict:
    later = ", and is kept from reuse since" if view.kept else "; another block may use its address now"
    made = view.made if isinstance(view.made, Touch) else None
    stack = (made, view.freed) if made else (view.freed,)
    method = view.freed.method or (made.method if made else "")
    rule = "a view must not outlive its memory"
    cure = "set an owner: PyArray_SetBaseObject with the object that frees it, PyMemoryView_FromObject"
    why = f"its memory was freed while it was alive{later}"
    return Verdict("dangling view", view.shown, view.kept, 1, 0, view.freed, stack, method, rule, cure, why)
