"""The true reference count of an object, its owners by name, and the gap between the two."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

from inspector import _native
from inspector.errors import InspectorError
from inspector.facts.record import dataclass
from inspector.facts.refs import NOT_MEASURED, Owner, Owners, Refs, Scan
from inspector.facts.unknown import Immortal, ImmortalType, Unknown
from inspector.objects.ownership.layouts import layouts
from inspector.objects.ownership.naming import Context, owner
from inspector.objects.ownership.paths import with_paths
from inspector.objects.ownership.quick import OWN_CODE, namespaces, quick_rows
from inspector.objects.ownership.rows import Row, rows
from inspector.objects.ownership.second_look import look, module_namespaces

Progress = Callable[[int, int], object]

HITS_MAX = 1 << 17
SHOWN_SLOTS = 3
"""Most places of one holder shown separately; more become one owner."""
SAMPLE_BYTES = 4 << 20
PASSES = 5.3
"""Most passes over memory for one result: hits, blocks, both again for the holders, and, if references
remain, one at the unaligned positions, which takes as long as 1.3 others."""
WITHOUT_GIL = "t" in sys.abiflags
NOT_SEARCHED = Unknown(
    "C memory is not searched without the GIL"
    if WITHOUT_GIL
    else "memory was not searched: ask for the owners"
)

_BORROWING = ("stack", "unknown holder")
"""Kinds whose pointers are mostly borrowed or stale: they explain no gap."""


def refs(
    subject: _native.Subject,
    names: Mapping[int, str] | None = None,
    scan: bool = False,
    progress: Progress | None = None,
    leave_out: Sequence[tuple[int, int]] = (),
) -> Refs:
    """The column `refs`: true count, owners, weak references."""
    found = owners(subject, names, scan, progress, leave_out)
    return Refs(found.references, found, weakrefs(subject))


def weakrefs(subject: _native.Subject) -> int | Unknown:
    """Live weak references to the object; Unknown if its type cannot have any."""
    kind = type(subject.get())
    if not type.__dict__["__weakrefoffset__"].__get__(kind):
        return Unknown("objects of this type cannot be weakly referenced")
    return weakref.getweakrefcount(subject.get())


def owners(
    subject: _native.Subject,
    names: Mapping[int, str] | None = None,
    scan: bool = False,
    progress: Progress | None = None,
    leave_out: Sequence[tuple[int, int]] = (),
) -> Owners:
    """The owners of an object.

    Without `scan` only the cheap ones: frames, namespaces, and what those name directly. `scan` searches the
    process's private writable memory, without the ranges `leave_out` (start, stop);
    `progress(bytes done, total bytes)` may stop it by returning False. `names`: id of a dict -> the user's
    name for it.
    """
    context = Context(names or {})
    references = _count(subject)  # before rows exist: a row may hold the subject as a key
    glanced = quick_rows(subject, context)
    if scan and not WITHOUT_GIL:
        del glanced
        return _searched(subject, context, progress, leave_out or _payloads(context))
    named = _owners([*glanced, *_tracked(subject, glanced)] if scan else glanced, context)
    unnamed = 0 if isinstance(references, ImmortalType) else max(references - _certain(named), 0)
    return Owners(
        references=references,
        owners=named,
        unnamed=unnamed if not isinstance(references, ImmortalType) else Unknown("an immortal has no count"),
        native=NOT_SEARCHED,
        unstored=NOT_SEARCHED,
        scan=NOT_SEARCHED,
        searchable_bytes=searchable_bytes(),
        estimated_ns=_estimated_ns(),
    )


def _tracked(subject: _native.Subject, glanced: Sequence[Row]) -> list[Row]:
    """Without the GIL: the containers that the collector tracks and a glance did not reach."""
    seen = {_where(row) for row in glanced}
    return [
        row for row in rows(_native.find_holders((subject,), (), (), OWN_CODE)[0]) if _where(row) not in seen
    ]


def _where(row: Row) -> tuple[Any, ...]:
    holder, key = (one.address if one is not None else 0 for one in (row.holder, row.key))
    return holder, row.slot, row.position, key


def _payloads(context: Context) -> list[tuple[int, int]]:
    """Ranges of numeric buffers with a user's name: they contain no references."""
    from inspector.adapters.spans import numeric_spans

    values = (value for space in namespaces(context) for value in list(space.values()))
    return [(span.start, span.stop) for span in numeric_spans(values)]


def _count(subject: _native.Subject) -> int | ImmortalType:
    count = subject.refcount()
    return Immortal if count is None else count


def _certain(found: Sequence[Owner]) -> int:
    return sum(one.references for one in found if one.certain)


def _owners(found: Sequence[Row], context: Context) -> tuple[Owner, ...]:
    """Rows as owners, certain ones first; many places of one holder become one owner."""
    made = [one for row in found if (one := owner(row, context)) is not None]
    groups: dict[tuple[Any, ...], list[Owner]] = {}
    for one in made:
        same = one.kind if one.kind == "type" and one.key == "its type" else one.address
        groups.setdefault((one.kind, one.holder, one.certain, same), []).append(one)
    merged: list[Owner] = []
    for group in groups.values():
        merged += group if len(group) <= SHOWN_SLOTS and group[0].key != "its type" else [_merged(group)]
    return tuple(sorted(merged, key=lambda one: not one.certain))


def _merged(group: Sequence[Owner]) -> Owner:
    first = group[0]
    references = sum(one.references for one in group)
    key = first.key if len(group) == 1 else f"{first.key} and {references - 1:,} more"
    return Owner(
        first.kind, first.holder, key, references, first.certain, first.address, first.symbol, first.library
    )


def _searched(
    subject: _native.Subject,
    context: Context,
    progress: Progress | None,
    leave_out: Sequence[tuple[int, int]],
) -> Owners:
    with _may_be_stopped():
        seen, did = _native.find_holders(
            (subject,), leave_out, layouts(), OWN_CODE, HITS_MAX, progress, module_namespaces()
        )
    found = rows(seen)
    del seen
    naming_ns = look(found, context, OWN_CODE, leave_out)
    named = _owners(found, context)
    references: int | ImmortalType = did["references"]
    if isinstance(_count(subject), ImmortalType):
        references = Immortal
    gap = _gap(references, named, bool(did["truncated"]))
    if not isinstance(gap.unstored, Unknown) and gap.unstored:
        packed, swept = _unaligned(subject, context, progress, leave_out)
        named += packed
        did = _both(did, swept)
        gap = _gap(references, named, bool(did["truncated"]))
    return Owners(
        references=references,
        owners=with_paths(named, found, context.names),
        unnamed=0,
        native=gap.native,
        unstored=gap.unstored,
        scan=Scan(
            scanned_bytes=did["scanned_bytes"],
            scan_ns=did["scan_ns"],
            verify_ns=did["verify_ns"] + naming_ns,
            hits=did["hits"],
            stale=did["stale"],
            left_out_bytes=did["left_out_bytes"],
        ),
        searchable_bytes=searchable_bytes(),
        notes=gap.notes + _notes(did),
        estimated_ns=_estimated_ns(),
    )


@contextmanager
def _may_be_stopped() -> Iterator[None]:
    """Turn the interruption of a search, by progress or a signal handler, into one clear error."""
    try:
        yield
    except InterruptedError as stopped:
        raise InspectorError(
            "the search for owners was stopped",
            slug="search-stopped",
            why="you asked for it",
            do="run it again",
        ) from stopped


def _unaligned(
    subject: _native.Subject,
    context: Context,
    progress: Progress | None,
    leave_out: Sequence[tuple[int, int]],
) -> tuple[tuple[Owner, ...], _native.SearchRow]:
    """Owners with an unaligned pointer to the object: packed C structs, records without padding."""
    with _may_be_stopped():
        seen, did = _native.find_holders(
            (subject,), leave_out, layouts(), OWN_CODE, HITS_MAX, progress, unaligned=True
        )
    found = _owners(rows(seen), context)
    return tuple(replace(one, key=f"{one.key}, unaligned", certain=False) for one in found), did


def _both(first: _native.SearchRow, then: _native.SearchRow) -> _native.SearchRow:
    """The statistics of two searches added; the count is that of the first."""
    return {
        **first,
        "scanned_bytes": first["scanned_bytes"] + then["scanned_bytes"],
        "scan_ns": first["scan_ns"] + then["scan_ns"],
        "verify_ns": first["verify_ns"] + then["verify_ns"],
        "hits": first["hits"] + then["hits"],
        "stale": first["stale"] + then["stale"],
        "truncated": first["truncated"] + then["truncated"],
        "interrupted": first["interrupted"] | then["interrupted"],
    }


@dataclass(frozen=True, slots=True)
class _Gap:
    """The references that the certain owners do not explain."""

    native: int | Unknown
    unstored: int | Unknown
    notes: tuple[str, ...] = ()


def _gap(references: int | ImmortalType, found: Sequence[Owner], truncated: bool) -> _Gap:
    """The references that certain owners do not explain: stored by native code if that fits, else nowhere."""
    if isinstance(references, ImmortalType):
        none = Unknown("an immortal object has no count to explain")
        return _Gap(none, none)
    if truncated:
        cut = Unknown(f"more than {HITS_MAX:,} places hold it: not all were looked at")
        return _Gap(cut, cut)
    missing = references - _certain(found)
    possible = [one for one in found if not one.certain]
    native = sum(one.references for one in possible if one.kind not in _BORROWING)
    borrowing = sum(one.references for one in possible if one.kind in _BORROWING)
    notes = []
    if missing < 0:
        notes.append(f"{-missing} more holders than references: memory changed while it was read")
    if missing > 0 and native > missing:
        notes.append(
            f"{_many(native, 'pointer')} in native code for {_many(missing, 'missing reference')}: "
            "some only borrow the object"
        )
    if borrowing and missing > native:
        where = "on C stacks or in unknown memory"
        notes.append(f"{_many(borrowing, 'pointer')} {where} may hold some of the rest")
    stored = max(min(native, missing), 0)
    return _Gap(stored, max(missing - stored, 0), tuple(notes))


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _notes(did: _native.SearchRow) -> tuple[str, ...]:
    notes = []
    if did["truncated"]:
        notes.append(f"{did['truncated']:,} more places were counted, not looked at")
    if did["interrupted"]:
        notes.append("progress was shown during the search: other threads may have run in between")
    return tuple(notes)


def searchable_bytes() -> int:
    """Bytes a search would read: private memory in RAM, by /proc/self/statm (proc_pid_statm(5))."""
    if WITHOUT_GIL:
        return 0
    with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - a path object costs more than the read
        numbers = file.read().split()
    return (int(numbers[1]) - int(numbers[2])) * 4096


def _estimated_ns() -> int | Unknown:
    """Estimated nanoseconds of a search, at the speed of the last one or of a sample read now."""
    speed = 0 if WITHOUT_GIL else _native.scan_bandwidth() or _sampled_speed()
    return int(searchable_bytes() / speed * PASSES * 1e9) if speed else NOT_MEASURED


@cache
def _sampled_speed() -> float:
    """Bytes per second when reading the first few megabytes, measured once a process."""
    read, ns, _sum = _native.read_all(SAMPLE_BYTES)
    return read / ns * 1e9 if ns else 0.0
