"""Make facts of a closed ledger: each suspicious object with its count, and the owners that one search of
memory finds for all of them."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import CodeType
from typing import Any, Final

from inspector import _native
from inspector.binaries.addresses import place
from inspector.facts.conversion import Site
from inspector.facts.leaks import Dangling, Fault, Relation, Role, Suspect, Touch
from inspector.facts.memory import Range
from inspector.facts.refs import Owner
from inspector.facts.unknown import Address, Unknown
from inspector.ledger.disguised import disguised
from inspector.ledger.encoded import encoded
from inspector.ledger.hidden_owners import hidden_owners
from inspector.ledger.ledger import Found
from inspector.ledger.owners import BORROWING, owners_of, said
from inspector.objects.classes import full_name
from inspector.objects.ownership.rows import type_name
from inspector.tracing.events import capi_rows
from inspector.tracing.events.code_places import NOWHERE, site
from inspector.tracing.events.name_tables import library_of
from inspector.tracing.events.native_lines import native_file, native_line

SEARCHED_MAX: Final = 512
"""Objects of one search, and of a stage."""
LIKE_MAX: Final = 16
"""Objects of one origin whose owners are searched."""
OWNERS_SHOWN: Final = 4
SHOWN_CHARS: Final = 40
_ROLES: Final[dict[str, Role]] = {
    "n": "new", "b": "borrowed", "S": "stolen", "s": "stolen", "+": "kept", "-": "released", "=": "stored",
    "o": "borrowed", "*": "replaced", "x": "died", "B": "unbalanced", "r": "returned",
    "f": "stolen on failure", "k": "not stolen", "h": "settled", "d": "outlived", "c": "outlived",
}  # fmt: skip
_IN_EFFECTS: Final = {"f": "S", "k": "s"}
"""Letter of a touch -> that of its parameter in the column of effects, where they differ."""
_RELATIONS: Final[tuple[Relation, ...]] = ("itself", "dtype", "base", "type")
_BY_RESULT: Final = ("n", "b")


@dataclass(frozen=True, slots=True)
class Searched:
    """The facts, and bytes and nanoseconds of the search."""

    count: int
    """Objects that were searched for."""
    suspects: tuple[Suspect, ...]
    """Those of them whose owners do not explain their references."""
    faults: tuple[Fault, ...]
    dangling: tuple[Dangling, ...]
    left_out: int
    unlike: int
    scan_ns: int
    scanned_bytes: int


def searched(found: Found, searches: bool = True) -> Searched:
    """Facts of all suspects; one search finds the owners of all. Without it: of those that counts prove."""
    if not searches:
        return _facts(found, [row for row in found.rows if _is_proven(row)], {}, {}, {})
    chosen, left_out, unlike = _chosen(found)
    owners: dict[int, tuple[Owner, ...]] = {}
    did: Counter[str] = Counter()
    by_address = {row[1]: row for row in chosen}
    for at in range(0, len(chosen), SEARCHED_MAX):
        subjects = [row[0] for row in chosen[at : at + SEARCHED_MAX] if row[0] is not None]
        some, of_search = owners_of(
            subjects, found.frames_from, lambda address, some: _is_whole(by_address[address], some)
        )
        owners |= some
        did.update(of_search)
    if did["truncated"]:  # not all places were read: a missing owner proves nothing
        chosen = [row for row in chosen if row[3] & _native.LEDGER_FLAGS["DEAD"]]
        left_out = unlike = len(found.rows) - len(chosen)
    unexplained = [row[0] for row in chosen if row[0] is not None and _is_unexplained(row, owners)]
    hidden = hidden_owners(unexplained)
    facts = _doubted(found, _facts(found, chosen, owners, hidden, did), unexplained)
    return replace(facts, left_out=left_out + found.left_out, unlike=unlike + found.left_out)


def _doubted(found: Found, facts: Searched, subjects: Sequence[_native.Subject]) -> Searched:
    """Of objects with too few owners: how many words may be their address in disguise."""
    few = {
        int(one.address)
        for one in facts.suspects
        if not one.died and one.references > one.certain_owners + one.possible_owners
    }
    if not few:
        return facts
    words = disguised([subject for subject in subjects if subject.address in few])
    touches = (touch for row in found.rows if row[1] in few for touch in row[12])
    libraries = {found.slots[touch[2]] for touch in touches if touch[2] in found.slots}
    words += encoded([one for one in few if not words[one]], libraries)
    suspects = (
        replace(one, disguised=words[int(one.address)]) if words[int(one.address)] else one
        for one in facts.suspects
    )
    return replace(facts, suspects=tuple(suspects))


def _facts(
    found: Found,
    chosen: list[_native.LedgerRow],
    owners: dict[int, tuple[Owner, ...]],
    hidden: dict[int, tuple[str, ...]],
    did: Mapping[str, int],
) -> Searched:
    """Facts of the chosen objects; the others are left out."""
    suspects = tuple(
        _suspect(found, row, owners.get(row[1], ()), hidden.get(row[1], ()))
        for row in chosen
        if not _is_explained(row, owners.get(row[1], ()))
    )
    faults = tuple(_fault(found, row, at) for at, row in enumerate(found.faults))
    dangling = tuple(_dangling(found, row) for row in found.dangling)
    return Searched(
        count=len(chosen),
        suspects=suspects,
        faults=faults,
        dangling=dangling,
        left_out=len(found.rows) - len(chosen) + found.left_out,
        unlike=len(found.rows) - len(chosen) + found.left_out,
        scan_ns=did.get("scan_ns", 0),
        scanned_bytes=did.get("scanned_bytes", 0),
    )


def _is_proven(row: _native.LedgerRow) -> bool:
    """Whether counts prove a fault: a release after the death, or a dtype, base or class that lost one."""
    return row[5] < 0 if _is_dead(row) else bool(row[10]) and row[7] < 0


def unsearched(found: Found) -> Counter[str]:
    """The native function of each suspect that only a search would judge, and how many there are."""
    return Counter(
        next((name for touch in row[12] if (name := found.method(touch[6]))), "")
        for row in found.rows
        if not _is_proven(row)
    )


def _chosen(found: Found) -> tuple[list[_native.LedgerRow], int, int]:
    """A few objects of each origin, since one place makes similar objects; how many are left out; how many of
    these are of origins without a chosen object.

    First those released after their death, then those of calls by Python or a host, then those of imports.
    """
    over = _native.LEDGER_FLAGS["OVER"]
    seen: Counter[tuple[Any, ...]] = Counter()
    chosen: list[_native.LedgerRow] = []
    unlike = 0
    for row in sorted(found.rows, key=lambda row: (not row[3] & over, not _was_called(found, row))):
        origin = _origin(found, row)
        has_room = len(chosen) < SEARCHED_MAX * max(1, len(found.stages))
        seen[origin] += has_room
        unlike += not seen[origin]
        if has_room and seen[origin] <= LIKE_MAX:
            chosen.append(row)
    return chosen, len(found.rows) - len(chosen), unlike


def _origin(found: Found, row: _native.LedgerRow) -> tuple[Any, ...]:
    first = row[12][0] if row[12] else ()
    stage = found.stage(first[4]) if first else 0
    return (row[2], row[3] & _native.LEDGER_FLAGS["DEAD"], stage, *first[:4], *first[6:7])


def _was_called(found: Found, row: _native.LedgerRow) -> bool:
    """Whether a call from Python or by a host touched it; else the import of a module did."""
    return any(touch[6] or found.slots.get(touch[2], "") in found.hosts for touch in row[12])


def _is_unexplained(row: _native.LedgerRow, owners: dict[int, tuple[Owner, ...]]) -> bool:
    return row[5] > sum(one.references for one in owners.get(row[1], ()))


def _is_explained(row: _native.LedgerRow, owners: tuple[Owner, ...]) -> bool:
    """Whether no verdict can come of it: then its lines, which are slow to find, are left out."""
    certain = sum(one.references for one in owners if one.certain)
    if row[12] and row[12][-1][0] in "cd":
        unknown = row[5] - sum(one.references for one in owners if one.kind not in BORROWING)
        if any(one.kind == "type" for one in owners):
            # Living instances may be what a type gained, unless no more of its count is unknown than that.
            return not 0 < unknown <= row[7] or _RELATIONS[row[10]] != "type"
        if not row[3] & _native.LEDGER_FLAGS["FRESH"] and row[5] <= row[4] and unknown > row[7]:
            return True  # it had lost references before, and its count did not rise
    if _is_dead(row):
        return not certain and row[5] >= 0
    return row[5] == certain and row[7] >= 0


def _is_dead(row: _native.LedgerRow) -> bool:
    return bool(row[3] & (_native.LEDGER_FLAGS["DEAD"] | _native.LEDGER_FLAGS["LISTED"]))


def _is_whole(row: _native.LedgerRow, owners: Sequence[Owner]) -> bool:
    """Whether each reference has an owner, whatever it is called."""
    ends = bool(row[12]) and row[12][-1][0] in "cd"
    return not ends and not _is_dead(row) and _is_explained(row, tuple(owners))


def _suspect(
    found: Found, row: _native.LedgerRow, owners: tuple[Owner, ...], hidden: tuple[str, ...]
) -> Suspect:
    subject, address, kind, flags, baseline, count, reported, balance, calls, falls, relation, _, touches = (
        row
    )
    masks = _native.LEDGER_FLAGS
    certain = sum(one.references for one in owners if one.certain)
    died = bool(flags & (masks["DEAD"] | masks["LISTED"]))
    # Of a fresh one, a field that was set anew before its object died proves nothing.
    fresh = bool(flags & masks["FRESH"])
    return Suspect(
        shown=kind.rpartition(".")[2] if subject is None or died else shown(subject),
        type_name=kind,
        address=Address(address),
        relation=_RELATIONS[relation],
        fresh=fresh,
        died=died,
        references=count if died or subject is None else _settled(subject, count, flags, certain),
        baseline=baseline,
        reported=reported,
        certain_owners=certain,
        possible_owners=sum(one.references for one in owners if not one.certain and one.kind not in BORROWING)
        + len(hidden),
        borrowing=sum(one.references for one in owners if not one.certain and one.kind in BORROWING),
        owners=(*(said(one) for one in owners[:OWNERS_SHOWN]), *hidden[:1]),
        native_holder=_native_holder(owners, hidden),
        balance=balance,
        unbalanced_calls=calls,
        falls_in_a_row=falls,
        blurred=bool(flags & masks["BLURRED"]),
        touches=tuple(
            _touch(found, touch) for touch in touches if touch[7] or touch[0] not in "cd" or not fresh
        ),
    )


def _settled(subject: _native.Subject, count: int, flags: int, owners: int) -> int:
    """The count that accuses least, if another thread changed it after the ledger was closed."""
    now = subject.refcount()
    if now is None:
        return count
    now -= bool(flags & _native.LEDGER_FLAGS["HELD"])
    return max(count, now) if owners > count else min(count, now)


def _native_holder(owners: tuple[Owner, ...], hidden: tuple[str, ...]) -> str:
    possible = [one for one in owners if not one.certain and one.kind not in BORROWING]
    most = sorted(possible, key=lambda one: -one.references)[:1]
    return next(iter((*map(said, most), *hidden)), "")


def shown(subject: _native.Subject) -> str:
    """Type, and the value if it can be read without running code: "str 'k2'", "class pickle.Pickler"."""
    kind = type_name(subject)
    text = _native.preview(subject, ())
    if text and text.startswith("class "):
        return f"class {full_name(subject.get())}"
    if text is None and kind.endswith("DType"):
        return f"dtype({_native_name(subject)!r})"
    if not text or len(text) > SHOWN_CHARS:
        return kind
    return text if text.startswith(kind) else f"{kind} {text}"


def _native_name(subject: _native.Subject) -> str:
    """NumPy's name of a dtype; runs NumPy's C code, not the user's."""
    import numpy

    return str(numpy.dtype.name.__get__(subject.get()))


def _touch(found: Found, row: _native.LedgerTouch) -> Touch:
    letter, number, slot, from_, code, offset, method, change = row
    name = capi_rows.name(number) if number >= 0 else ""
    ended, address = found.ender(from_, letter == "c") if letter in "cd" else ("", found.function(method))
    symbol, source = _native_place(from_, found.slots.get(slot, "")) if number >= 0 else _begin(address)
    return Touch(
        role=_ROLES[letter],
        function=name,
        parameter=_parameter(number, letter) if number >= 0 and letter not in _BY_RESULT else "",
        method=ended or found.method(method) or _host(found, slot),
        symbol=symbol,
        source=source,
        site=site_of(found, code, offset),
        change=0 if number >= 0 else change,
        count=change if number >= 0 else 0,
        path=native_file(from_ - 1, source) if number >= 0 else "",
        stage=found.stage(code),
    )


def _host(found: Found, slot: int) -> str:
    """The host that made the call; "" if it was no host."""
    path = found.slots.get(slot, "")
    return library_of(path) if path in found.hosts else ""


def _begin(address: int) -> tuple[str | Unknown, str | Unknown]:
    """Symbol of the C function that Python called, and the line where it begins."""
    return native_line(address, begins=True) if address else (_CALLED, _CALLED)


_CALLED = Unknown("a call from Python")


def _native_place(address: int, module: str) -> tuple[str | Unknown, str | Unknown]:
    """Symbol and source line of a call, from its return address minus one; unknown for a tail call."""
    spot = place(address - 1)
    if spot.library != module:
        tail = Unknown("the C function ended with this call: it left no return address")
        return tail, tail
    return native_line(address - 1)


def _parameter(number: int, letter: str) -> str:
    """Name of the first parameter with this letter in the column of effects."""
    row = _native.CAPI_ROWS[number]
    at = row[9].find(_IN_EFFECTS.get(letter, letter))
    names = [part.split()[-1].lstrip("*") for part in row[2].strip("()").split(",") if part.split()]
    return names[at] if 0 <= at < len(names) else ""


def site_of(found: Found, code: int, offset: int) -> Site:
    """The Python line of an interned code number and an offset, valid until `found` is released."""
    known = found.interned[code] if code < len(found.interned) else None
    return site(known, offset, found.cells) if isinstance(known, CodeType) else NOWHERE


_KINDS: Final = {
    "NULL_WITHOUT_EXCEPTION": "NULL without an exception",
    "RESULT_WITH_EXCEPTION": "result with an exception set",
    "WITHOUT_GIL": "C-API call without the GIL",
    "DIED_IN_CALL": "over-released",
    "RETURNED_UNOWNED": "borrowed reference stolen",
    "RETURNED_SHARED": "returned without a reference",
}


_SHARED: Final = {
    id(None): "NoneType", id(True): "bool True", id(False): "bool False",
    id(NotImplemented): "NotImplementedType",
}  # fmt: skip
"""Address of what native/leaks/shared.c watches -> its type and value."""


def _fault(found: Found, row: _native.LedgerFault, at: int) -> Fault:
    kind, number, slot, from_, code, offset, method, address = row
    touch = _touch(found, ("B", number, slot, from_, code, offset, method, 0))
    touch = replace(touch, stage=bisect_right(found.faults_before, at))  # without the GIL no code is known
    object_ = _SHARED.get(address, f"object at {address:#x}") if address else ""
    return Fault(_KINDS[_native.LEDGER_FAULTS[kind]], touch, object_)  # type: ignore[arg-type]


def _dangling(found: Found, row: _native.DanglingRow) -> Dangling:
    subject, start, stop, kept, function, slot, from_, code, offset, method, touches = row
    symbol, source = _native_place(from_, found.slots.get(slot, "")) if from_ else (_BY_PYTHON, _BY_PYTHON)
    name = found.method(method)
    path = native_file(from_ - 1, source) if from_ else ""
    where, stage = site_of(found, code, offset), found.stage(code)
    freed = Touch("freed", function, "", name, symbol, source, where, 0, path, stage)
    made = next((replace(_touch(found, one), role="viewed") for one in touches if one[0] == "n"), _EARLIER)
    return Dangling(type_name(subject), Range(Address(start), Address(stop)), bool(kept), freed, made)


_BY_PYTHON = Unknown("Python's own allocator was called")
_EARLIER = Unknown("no watched module made it meanwhile")
