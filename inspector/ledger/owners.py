"""The owners of several objects, by one search of memory."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from inspector import _native
from inspector.facts.refs import Owner
from inspector.objects.ownership.layouts import layouts
from inspector.objects.ownership.naming import Context, owner
from inspector.objects.ownership.rows import Row, rows
from inspector.objects.ownership.second_look import look, module_namespaces

HITS_MAX: Final = 1 << 17
BORROWING: Final = ("stack", "unknown holder")
OWN_CODE: Final = str(Path(__file__).resolve().parents[1]) + "/"


def owners_of(
    subjects: list[_native.Subject],
    frames_from: int = 0,
    is_enough: Callable[[int, list[Owner]], bool] | None = None,
) -> tuple[dict[int, tuple[Owner, ...]], dict[str, Any]]:
    """Address -> its owners, and the search's statistics; `frames_from` as in `Found`.

    `is_enough`: whether these owners of an address need no further names, which only more searches find.
    """
    if not subjects:
        return {}, {"scan_ns": 0, "scanned_bytes": 0, "truncated": 0}
    leave_out = _native.ledger_rooms()
    seen, did = _native.find_holders(
        tuple(subjects), leave_out, layouts(), OWN_CODE, HITS_MAX, None, module_namespaces()
    )
    found = rows(seen)
    del seen
    owners: dict[int, list[Owner]] = {}
    if is_enough is not None:
        owners = _named(found, Context({}), subjects, frames_from)
        enough = {address for address, some in owners.items() if is_enough(address, some)}
        found = [row for row in found if subjects[row.subject].address not in enough]
    context = Context({})
    look(found, context, OWN_CODE, leave_out)
    owners |= _named(found, context, subjects, frames_from)
    return {address: _sorted(some) for address, some in owners.items()}, dict(did)


def _named(
    found: list[Row], context: Context, subjects: list[_native.Subject], frames_from: int
) -> dict[int, list[Owner]]:
    owners: dict[int, list[Owner]] = {}
    for row in found:
        one = owner(row, context)
        if one is not None and not _holds_nothing(one, subjects[row.subject], frames_from):
            hides = _is_hidden(row, subjects[row.subject])
            one = replace(one, certain=False) if hides else one
            owners.setdefault(subjects[row.subject].address, []).append(one)
    return owners


def _is_hidden(row: Row, subject: _native.Subject) -> bool:
    """Whether C code hides the holder from the collector: its references may be borrowed (persistent).

    CPython tracks a dict as soon as it holds something that is tracked.
    """
    holder = row.holder.get() if row.holder is not None and row.place == "object" else None
    return type(holder) is dict and not gc.is_tracked(holder) and gc.is_tracked(subject.get())


def _holds_nothing(one: Owner, subject: _native.Subject, frames_from: int) -> bool:
    """Whether the pointer is stale: in CPython's free lists, or on our own stack, whose frames began before
    the judged code or have returned, except a host's."""
    if one.kind == "stack":
        if frames_from and int(one.address) >= frames_from:
            return False
        mapping = _native.mapping_at(int(one.address))
        is_main = threading.current_thread() is threading.main_thread()
        return is_main and mapping is not None and mapping[4] == "[stack]"
    is_name = type(subject.get()) is str  # CPython's attribute cache owns its names
    return one.kind == "static" and one.symbol == "_PyRuntime" and not is_name


def _sorted(some: list[Owner]) -> tuple[Owner, ...]:
    return tuple(sorted(some, key=lambda one: (not one.certain, one.kind in BORROWING)))


def said(one: Owner) -> str:
    """An owner in a few words."""
    return f"{one.holder} {one.key}".strip()
