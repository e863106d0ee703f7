"""The holders of an object of another process: searches its memory for the pointer, and names each hit.

A word that has the address is a candidate. It is certain in a container that the collector tracks, in a
container that such a one holds, and in a variable of a running frame. In C statics and malloc blocks it is
only possible: the pointer may not own a reference.
"""

# SPDX-License-Identifier: MIT
import time
from collections import Counter
from typing import Final

from inspector import _native
from inspector.debugger.attach import object_layout as at
from inspector.debugger.attach.frames import frame_slots
from inspector.debugger.attach.look import references
from inspector.debugger.attach.naming import Holding, Naming
from inspector.debugger.attach.objects import Objects
from inspector.debugger.attach.path import resolved
from inspector.debugger.attach.runtime import Runtime
from inspector.debugger.attach.untracked import untracked
from inspector.debugger.memory import proc
from inspector.facts.refs import Owner, Owners, Scan
from inspector.facts.unknown import ImmortalType, Unknown

HITS_MAX: Final = 100_000
OBJECTS_MAX: Final = 50_000_000
HOLDERS_NAMED_MAX: Final = 64
"""Holders whose own holders are searched, so that a dict gets a name."""


class Search:
    """One search of one stopped process."""

    def __init__(self, objects: Objects, found: Runtime) -> None:
        self.objects, self.found, self.pid = objects, found, objects.memory.pid
        self.ranges = proc.writable(self.pid)
        self.heads = _heads(objects, found)
        self._special = _special(objects, found)
        self.scanned = self.left_out = self.hits = 0
        self.scan_ns = 0
        self.whole = True

    def words(self, needles: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """(address, value) of the words whose value is in one of the ranges `needles`."""
        begin = time.perf_counter_ns()
        spans = [(start, stop) for start, stop, _ in self.ranges]
        hits, count, scanned, left_out = _native.remote_scan(self.pid, spans, needles, HITS_MAX)
        self.scan_ns += time.perf_counter_ns() - begin
        self.scanned += scanned
        self.left_out = left_out
        self.hits = self.hits or count
        return hits

    def tracked(self, words: list[int]) -> list[Holding]:
        """The tracked containers that hold these words."""
        rows, _, whole = _native.remote_holders(
            self.pid, self.heads, sorted(words), *self._special, self.found.where.for_walk, OBJECTS_MAX
        )
        self.whole = self.whole and whole
        found: dict[int, Holding] = {}
        for word, holder, how in rows:  # a small set's table is inside the set: prefer the table
            if word not in found or how > found[word].how:
                found[word] = Holding(word, holder, how)
        return list(found.values())


def _heads(objects: Objects, found: Runtime) -> list[int]:
    """The addresses of the heads of the collector's lists."""
    collector = found.interpreter + found.where.collector
    heads = [collector + offset for offset in found.where.generations]
    if found.where.minor < 14:
        first = objects.memory.word(collector + at.FIRST_LIST)
        heads[:3] = [first + at.LIST_BYTES * number for number in range(3)]
    return heads


def _special(objects: Objects, found: Runtime) -> tuple[list[int], list[int]]:
    """The addresses of the types of sets and of generators; 0 for a type that was not found."""
    loaded = dict(objects.text_items(found.modules))
    known = {
        name: dict(objects.text_items(objects.memory.word(loaded[name] + at.MODULE_DICT)))
        for name in ("builtins", "types")
        if name in loaded
    }
    sets = [known.get("builtins", {}).get(name, 0) for name in ("set", "frozenset")]
    names = ("GeneratorType", "CoroutineType", "AsyncGeneratorType")
    return sets, [known.get("types", {}).get(name, 0) for name in names]


def owners(objects: Objects, found: Runtime, expression: str) -> Owners:
    """The holders of the object at a path. Raises InspectorError: not-a-path, no-such-path."""
    address = resolved(objects, found.modules, expression)
    search = Search(objects, found)
    words = [word for word, _ in search.words([(address, address + 1)])]
    begin = time.perf_counter_ns()
    slots = frame_slots(objects, found)
    by_frame = {word: slots[word] for word in words if word in slots}
    holdings = search.tracked([word for word in words if word not in by_frame])
    left = set(words) - set(by_frame) - {one.word for one in holdings}
    holdings += untracked(objects, search.words, sorted(left)) if left else []
    left -= {one.word for one in holdings}
    naming = Naming(objects, found, _holders_of_holders(search, objects, holdings))
    rows = [*by_frame.values(), *map(naming.owner, holdings)]
    certain = _counted(sorted(rows, key=lambda row: not row.certain))
    stale = [word for word in left if naming.is_dead(word)]
    possible = _counted([naming.native(word) for word in sorted(left - set(stale))])
    verify_ns = time.perf_counter_ns() - begin
    scan = Scan(search.scanned, search.scan_ns, verify_ns, search.hits, len(stale), search.left_out)
    return _balanced(references(objects, address), certain, possible, scan, search)


def _holders_of_holders(
    search: Search, objects: Objects, holdings: list[Holding]
) -> dict[int, tuple[int, Holding]]:
    """holder -> (word, the container that holds the holder), to name dicts, lists and similar."""
    held = sorted({one.object for one in holdings})[:HOLDERS_NAMED_MAX]
    if not held:
        return {}
    hits = dict(search.words([(one, one + 1) for one in held]))
    found: dict[int, tuple[int, Holding]] = {}
    for one in search.tracked(list(hits)):
        found.setdefault(hits[one.word], (one.word, one))
    return found


def _counted(rows: list[Owner]) -> tuple[Owner, ...]:
    """Equal rows merged, with their count."""
    seen = Counter((row.kind, row.holder, row.key) for row in rows)
    kept = {(row.kind, row.holder, row.key): row for row in reversed(rows)}
    return tuple(
        Owner(row.kind, row.holder, row.key, seen[key], row.certain, row.address, row.symbol, row.library)
        for key, row in reversed(kept.items())
    )


def _balanced(
    count: int | ImmortalType,
    certain: tuple[Owner, ...],
    possible: tuple[Owner, ...],
    scan: Scan,
    search: Search,
) -> Owners:
    named = sum(owner.references for owner in certain if owner.certain)
    in_c = sum(owner.references for owner in possible if owner.kind != "stack")
    notes = ["read from outside: the process was stopped, and no code ran in it"]
    if not search.whole:
        notes.append("a list of its garbage collector could not be read completely: holders may be missing")
    native: int | Unknown = Unknown("its references are not counted")
    unstored: int | Unknown = native
    if not isinstance(count, ImmortalType):
        left = max(count - named, 0)
        native = min(left, in_c)
        unstored = left - native
        possible = possible if left else ()  # each reference has its holder: other words are none
    return Owners(count, (*certain, *possible), 0, native, unstored, scan, scan.scanned_bytes, tuple(notes))
