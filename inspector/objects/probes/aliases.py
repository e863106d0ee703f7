"""All objects over one range of bytes, across libraries, by address intervals.

Candidates are the referents of the gc's objects and of running frames, of types that an adapter knows. An
object that only native code holds is not found: the owners scan finds such holders.
"""

# SPDX-License-Identifier: MIT
import gc
from collections.abc import Iterator, Mapping
from typing import Any

from inspector import _native
from inspector.adapters.base import Adapter, type_name
from inspector.adapters.registry import adapter_of
from inspector.binaries.mappings import MappingTable
from inspector.facts.aliases import Alias, Aliases
from inspector.facts.finding import Finding, finding
from inspector.facts.memory import Range
from inspector.facts.unknown import Address, Unknown
from inspector.objects.layers.glance import glance
from inspector.objects.layers.stack import Places
from inspector.objects.layouts.overlap import common_spans, merged
from inspector.objects.referents import referents

MOST_ALIASES = 64
CHUNK = 4096
BOOKS = {
    "torch": "a write through another does not move tensor._version: autograd trusts the old values",
    "jax": "a write through another changes an array that jax holds for immutable",
}
"""Libraries that count writes -> the writes that they miss."""

Spans = list[tuple[int, int]]


def aliases(subject: _native.Subject, names: Mapping[int, str] | None = None) -> Aliases:
    """The objects that have bytes in common with the subject's; `names`: id -> the user's name."""
    x = subject.get()
    adapter = adapter_of(type(x))
    own = _spans(x, adapter) if adapter is not None else []
    places, seen, known = Places(MappingTable()), {id(x)}, names or {}
    rows = [_alias(x, adapter, own, own, known, places, True)] if adapter is not None and own else []
    looked = len(rows)
    for other, kind, theirs in over(own, seen):
        rows.append(_alias(other, kind, theirs, own, known, places, False))
    looked += len(seen) - 1
    rows[1:] = sorted(rows[1:], key=lambda row: (-row.common_bytes, row.library, row.name, row.address))
    return Aliases(
        tuple(rows[:MOST_ALIASES]), looked, max(len(rows) - MOST_ALIASES, 0), tuple(_unnoticed(rows))
    )


def over(own: Spans, seen: set[int] | None = None) -> Iterator[tuple[Any, Adapter, Spans]]:
    """(object, adapter, its intervals) of each object over these bytes; `seen`: ids that were looked at."""
    known = set() if seen is None else seen
    for other, kind in _candidates(own):
        if id(other) in known:
            continue
        known.add(id(other))
        theirs = _spans(other, kind)
        if theirs and common_spans(own, theirs):
            yield other, kind, theirs


def _candidates(own: Spans) -> Iterator[tuple[Any, Adapter]]:
    """Objects of known types that containers or frames refer to."""
    if not own:
        return
    kinds: dict[int, Adapter | None] = {}
    for held in _everything():
        kind = type(held)
        if id(kind) not in kinds:
            kinds[id(kind)] = adapter_of(kind)
        adapter = kinds[id(kind)]
        if adapter is not None:
            yield held, adapter


def _everything() -> Iterator[Any]:
    objects = _native.tracked_objects()
    for start in range(0, len(objects), CHUNK):
        chunk = objects[start : start + CHUNK]
        yield from chunk
        yield from _with_untracked(referents(chunk))
    del objects
    yield from _with_untracked(_native.local_values())


def _with_untracked(objects: list[Any]) -> Iterator[Any]:
    """The objects, and the items of containers that the gc does not track: these have no cycles."""
    for held in objects:
        yield held
        kind = type(held)
        if (kind is tuple or kind is dict or kind is frozenset) and held and not gc.is_tracked(held):
            yield from _with_untracked(gc.get_referents(held))


def _spans(x: Any, adapter: Adapter) -> Spans:
    """Its payload as merged intervals; an adapter that fails has none."""
    try:
        return merged([(span.start, span.stop) for span in adapter.spans(x)])
    except Exception:  # an adapter may be third-party code
        return []


def _alias(
    x: Any,
    adapter: Adapter,
    theirs: Spans,
    own: Spans,
    names: Mapping[int, str],
    places: Places,
    is_subject: bool,
) -> Alias:
    blocks = adapter.elements(x)
    return Alias(
        name=names.get(id(x), type_name(type(x))),
        type_name=type_name(type(x)),
        library=adapter.library,
        address=Address(id(x)),
        range=Range(Address(theirs[0][0]), Address(theirs[-1][1])),
        common_bytes=common_spans(own, theirs),
        state=glance(x, adapter, places).state,
        writable=not all(block.readonly for block in blocks)
        if blocks
        else Unknown("its adapter does not say"),
        subject=is_subject,
    )


def _unnoticed(rows: list[Alias]) -> Iterator[Finding]:
    libraries = {row.library for row in rows}
    for library, missed in BOOKS.items():
        others = [row for row in rows if row.library != library and row.writable is True]
        if library in libraries and others:
            yield finding("unnoticed-write", f"{others[0].name} can write to bytes of {library}", why=missed)
