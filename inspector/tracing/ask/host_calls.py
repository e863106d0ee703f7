"""The calls of hosts: programs that embed Python, linked to it or by pointers that dlsym gave them."""

# SPDX-License-Identifier: MIT
import ast
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

import numpy as np

from inspector.facts.hosted import NOT_HOSTED, HostCall, Hosted, HostSite
from inspector.facts.unknown import Unknown
from inspector.tracing.ask.conversions import own_values
from inspector.tracing.ask.nesting import Nesting
from inspector.tracing.events import capi_rows
from inspector.tracing.events.decode import FLAGS, KINDS, Events, Rows
from inspector.tracing.events.native_frames import stacks_of

SHOWN: Final = 2_000
"""Calls that become facts at the beginning and at the end; of the middle only faulty ones."""
FORGETS: Final = ("PyErr_Clear", "PyErr_Fetch", "PyErr_GetRaisedException")
ASKS: Final = ("PyErr_Occurred", "PyErr_ExceptionMatches", "Py_DecRef", "Py_IncRef")
"""Calls that may come in between."""
NUMBERS: Final = ("PyLong_AsLong", "PyLong_FromLong", "PyBool_FromLong")
MASKS: Final = ("PyLong_AsUnsignedLongMask", "PyLong_AsUnsignedLongLongMask")
TEXT: Final = "PyUnicode_AsUTF8"
TO_TEXT: Final = "PyUnicode_FromString"
"""Functions whose values may be changed."""
GONE: Final = -(1 << 15)
"""`refs_delta` of an object that may be freed (native/trace/record/event.h)."""
NO_GIL: Final = Unknown("the thread did not hold the GIL")
IMMORTAL: Final = Unknown("the object is immortal: its references are not counted")
UNCOUNTED: Final = 10**8
"""Counts from here on, and those without room in 31 bits, mean nothing: small ints of 3.11, PEP 683."""
NO_STACK: Final = Unknown("no stack of its call was noted")
NO_OBJECT: Final = Unknown("it is about no object")
WORD_BITS, WRAPS_NEGATIVE = 64, 1 << 30
"""The second as in native/trace/capi/hook_records.h."""
R_BITS: Final = 31
"""R's integers have 32 bits; the lowest is its NA."""


def hosted(events: Events, nesting: Nesting) -> Hosted:
    """The calls of hosts."""
    if not events.hosts:
        return NOT_HOSTED
    records = events.records[nesting.heads]
    capi = np.isin(records["kind"], (KINDS["CAPI"], KINDS["NAMED"], KINDS["GIL"]))
    heads = np.flatnonzero(capi & np.isin(records["slot"], list(events.hosts)))
    chosen = _chosen(events, nesting, heads)
    numbers = stacks_of(events, nesting.heads[heads])
    sites = [events.host_sites.get(int(one), NO_STACK) for one in numbers[np.isin(heads, chosen)]]
    calls = _cleared([_call(events, nesting, *one) for one in zip(map(int, chosen), sites, strict=True)])
    hosts = sorted({events.import_modules[slot] for slot in events.hosts})
    left_out, own = len(heads) - len(chosen), _own_lines(events, numbers)
    return Hosted(tuple(hosts), tuple(_merged(calls)), left_out, len(heads), own_lines=own)


def _own_lines(events: Events, numbers: Rows) -> tuple[tuple[str, int, int], ...]:
    """The program's lines, with the number of all calls that each led to."""
    found = Counter[tuple[str, int]]()
    for number, count in zip(*np.unique(numbers, return_counts=True), strict=True):
        site = events.host_sites.get(int(number), NO_STACK)
        if not isinstance(site, Unknown):
            found[site.file, site.line] += int(count)
    return tuple((*place, count) for place, count in sorted(found.items()))


def _chosen(events: Events, nesting: Nesting, heads: Rows) -> Rows:
    """The first and last calls, and those between that failed, lost a value or had no GIL, with the next."""
    records = events.records[nesting.heads[heads]]
    flags = records["flags"]
    without = (flags & FLAGS["NO_GIL"] != 0) & (flags & FLAGS["ENTRY"] == 0)
    ails = (flags & FLAGS["ERROR"] != 0) | without | _may_lose(events, nesting, heads)
    kept = ails | np.roll(ails, 1)
    kept[:SHOWN] = kept[-SHOWN:] = True
    chosen: Rows = heads[kept]
    return chosen


def _may_lose(events: Events, nesting: Nesting, heads: Rows) -> Rows:
    """The calls that `_lost` must check, by columns: a trace of R has a hundred thousand calls."""
    rows = nesting.heads[heads]
    records = events.records[rows]
    number = records["val"].astype(np.int64)
    wide = (number >= 1 << R_BITS) | (number <= -(1 << R_BITS))
    following = events.records[np.minimum(rows + 1, len(events.records) - 1)]
    cut = (following["kind"] == KINDS["TEXT"]) & (following["duration"] < records["aux"])
    found: Rows = _is_named(events, records, NUMBERS) & wide
    found |= _is_named(events, records, MASKS) & (records["aux"] != 0)
    found |= _is_named(events, records, (TEXT,)) & cut
    constants = np.array(list(events.constants), np.uint64)
    found |= _is_named(events, records, (TO_TEXT,)) & np.isin(records["val"], constants)
    return found


def _is_named(events: Events, records: Rows, names: tuple[str, ...]) -> Rows:
    slots = [slot for slot, name in events.hosts.items() if name in names]
    found: Rows = np.isin(records["slot"], slots) & (records["kind"] == KINDS["CAPI"])
    return found


def _call(events: Events, nesting: Nesting, head: int, site: HostSite | Unknown) -> HostCall:
    row, stop = int(nesting.heads[head]), int(nesting.stops[head])
    record = events.records[row]
    flags, slot = int(record["flags"]), int(record["slot"])
    host, function = events.import_modules[slot], events.hosts[slot]
    is_row = record["kind"] == KINDS["CAPI"]
    entry = bool(flags & FLAGS["ENTRY"])
    without = bool(flags & FLAGS["NO_GIL"]) and not entry
    values = own_values(events, row, stop)["values"] if is_row and not entry else ()
    before, after = (NO_GIL, NO_GIL) if without else _references(record, function, entry)
    return HostCall(
        host=host,
        function=function,
        object_type=NO_GIL if without else events.types[int(record["type"])] or NO_OBJECT,
        values=values,
        references=before,
        references_after=after,
        failed=bool(flags & FLAGS["ERROR"]),
        cleared=False,
        without_gil=without,
        lost="" if entry or without or not is_row else _lost(events, host, function, record, values),
        times=1,
        thread=events.threads[int(events.thread[row])],
        depth=int(record["depth"]),
        site=site,
    )


def _references(record: Any, function: str, entry: bool) -> tuple[int | Unknown, int | Unknown]:
    if entry or not int(record["type"]):
        return NO_OBJECT, NO_OBJECT
    before, delta = int(record["refs"]), int(record["refs_delta"])
    if not 0 <= before < UNCOUNTED:
        return IMMORTAL, IMMORTAL
    if delta == GONE:
        return before, before - 1 if function == "Py_DecRef" else Unknown("it may be gone")
    return before, before + delta


def _lost(events: Events, host: str, name: str, record: Any, values: tuple[str, ...]) -> str:
    """The loss by the function, or by what its host is known to do with the number."""
    word, more = int(record["val"]), int(record["aux"])
    if name in MASKS and more:
        return f"{_before(word, more)} became {word} without an error"
    if name == TEXT and len(values) == 1 and more > _c_bytes(values[0]):
        return f"cut at its first NUL: {more:,} bytes became {_c_bytes(values[0]):,}"
    if name == TO_TEXT and word in events.constants:
        return f"{events.constants[word]} became the text {values[0]}"
    return _lost_in_r(name, capi_rows.as_signed(word)) if host == "reticulate" else ""


def _before(word: int, bits: int) -> str:
    """An int that a mask kept 64 bits of: the number where these tell it, else how many bits it has."""
    if bits > WRAPS_NEGATIVE and bits - WRAPS_NEGATIVE < WORD_BITS:
        return str(word - (1 << WORD_BITS))
    sign = "a negative int" if bits > WRAPS_NEGATIVE else "an int"
    return f"{sign} of {bits % WRAPS_NEGATIVE:,} bits"


def _lost_in_r(name: str, number: int) -> str:
    lowest = -(1 << R_BITS)
    if name == "PyBool_FromLong" and number == lowest:
        return "R's NA became True"
    if name == "PyLong_FromLong" and number == lowest:
        return f"R's NA became {lowest}"
    if name == "PyLong_AsLong" and not -(1 << R_BITS) <= number < 1 << R_BITS:
        kept = (number + (1 << R_BITS)) % (1 << 32) - (1 << R_BITS)
        return f"R's integer has 32 bits: {number} became {'NA' if kept == lowest else f'{kept}L'}"
    return "" if name != "PyLong_AsLong" or number != lowest else f"{number} is R's NA"


def _c_bytes(shown: str) -> int:
    """Bytes of a shown text; a shortened one counts as complete."""
    return 1 << 62 if shown.endswith("…") else len(ast.literal_eval(shown).encode())


def _cleared(calls: list[HostCall]) -> list[HostCall]:
    """Mark each failed call whose exception the same thread took or cleared next."""
    for at, call in enumerate(calls):
        if call.failed:
            following = (one for one in calls[at + 1 :] if one.thread == call.thread)
            after = next((one.function for one in following if one.function not in ASKS), "")
            calls[at] = replace(call, cleared=after in FORGETS)
    return calls


def _merged(calls: list[HostCall]) -> list[HostCall]:
    if not calls:
        return []
    found = [calls[0]]
    for before, call in pairwise(calls):
        if before == call:
            found[-1] = replace(found[-1], times=found[-1].times + 1)
        else:
            found.append(call)
    return found
