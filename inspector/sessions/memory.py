"""Where the memory of a process went, and what fills its heap."""

# SPDX-License-Identifier: MIT
import ctypes
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from heapq import nlargest
from typing import Any, Final

from inspector.binaries import smaps
from inspector.facts.account import Account, Hung, less_lost, up_to_date
from inspector.facts.heap import Heap
from inspector.objects.classes import module_names

MOST_TOLD: Final = 3
MOST_S: Final = 0.5
"""After that no further name is looked at."""
STEADY: Final = 0.99
"""Of the resident set: what is left of it after an account that still holds."""


def memory(
    pid: int = 0,
    *,
    largest: int = 0,
    lost: bool = False,
    give_back: bool = False,
    names: Mapping[int, str] | None = None,
    known: Mapping[int, str] | None = None,
) -> Account:
    """Return what every resident byte of this process is for.

    Of another process what /proc and the headers of its blocks tell.

    `largest`: so many of the largest objects are told with the path that holds each (8 at most). `names`: id
    of a dict -> the user's name for it; `known`: the same of objects. `lost`: objects that nothing reaches
    and no collection frees get a row of their own (`inspector.lost()`); that takes longer.
    `give_back`: what free memory could be given back, and by which call; tried in a copy of the process.
    Raises InspectorError `ptrace-forbidden` and TargetGone `no-process` for another process. Example:
    `inspector.memory().row("free").resident_bytes`.
    """
    from inspector.objects.probes.account import account
    from inspector.verdicts.answers.account import with_answers

    told = None
    if lost and pid in (0, os.getpid()):  # first: what the account reads leaves words in memory
        from inspector.ledger.lost import lost as search

        told = search()
    found = account(pid, names, largest, known)
    if _shrank(found):  # an allocator gave memory back meanwhile, as jemalloc does in the background
        found = account(pid, names, largest, known)
    if told is not None:
        found = less_lost(found, told.kept, told.buffers)
    if give_back and found.is_self:
        from inspector.objects.probes.given_back import given_back

        found = replace(found, returnable=given_back(found))
    said = with_answers(_up_to_date(found))
    if largest and said.is_self and all(one.slug != "held" for one in said.answers):
        said = with_answers(replace(said, hung=_hung(known or _of_main())))
    return said


def _hung(known: Mapping[int, str]) -> tuple[Hung, ...]:
    """The names that keep most, each walked alone: what two of them share counts for both.

    `known`: id of an object that lives -> its name.
    """
    from inspector import _native
    from inspector.objects.probes.contents import contents

    found, begin = [], time.monotonic()
    for address, name in known.items():
        if time.monotonic() - begin > MOST_S:
            break
        held = contents(_native.Subject(ctypes.cast(address, ctypes.py_object).value))
        if held is not None:
            found.append(Hung(name, held.bytes, held.objects))
    return tuple(nlargest(MOST_TOLD, found, key=lambda one: one.bytes))


def _of_main() -> dict[int, str]:
    names: dict[str, Any] = module_names(sys.modules.get("__main__")) or {}
    return {id(value): name for name, value in list(names.items()) if not name.startswith("__")}


def _up_to_date(found: Account) -> Account:
    """The account of this process with what making it took: it is compared with what `ps` says next."""
    now = _now() if found.is_self else None
    return found if now is None else up_to_date(found, now.resident, now.proportional)


def _shrank(found: Account) -> bool:
    now = _now() if found.is_self else None
    return now is not None and now.resident < STEADY * found.resident_bytes


def _now() -> smaps.Area | None:
    try:
        return smaps.rollup()
    except OSError:  # a kernel before 4.14 has none
        return None


def heap(retained: int, largest: int, known: Mapping[int, str]) -> Heap:
    """The census by type with its sentence and its largest objects, as `memory` names them."""
    from inspector.objects.probes import heap as probe
    from inspector.objects.probes.account import largest_objects
    from inspector.verdicts.answers.account import of_heap

    return of_heap(replace(probe.heap(retained), largest=largest_objects(largest, known)))
