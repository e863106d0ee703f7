"""The heap at one moment: objects by type, a snapshot, and the difference of two snapshots."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from inspector.facts.account import Grown, LargeObject
from inspector.facts.answers import Answer
from inspector.facts.unknown import Unknown


@dataclass(frozen=True, slots=True)
class TypeCount:
    """All live objects of one type."""

    type_name: str
    objects: int
    bytes: int
    """Bytes of the objects themselves, headers included; not of what they refer to."""
    retained_bytes: int | Unknown
    """Bytes that would be freed with all objects of the type; unknown if not requested."""


@dataclass(frozen=True, slots=True)
class Heap:
    """Census by type, most bytes first: gc-tracked objects and the untracked objects they refer to."""

    objects: int
    bytes: int
    types: tuple[TypeCount, ...]
    walk_ns: int
    largest: tuple[LargeObject, ...] = ()
    """Those with the largest blocks of memory, if they were asked for."""
    answers: tuple[Answer, ...] = ()
    """What a user wants to know first."""

    def __repr__(self) -> str:
        most = ", ".join(f"{row.type_name} {row.bytes:,}" for row in self.types[:3])
        return f"<Heap: {self.objects:,} objects, {self.bytes:,} bytes; most: {most or 'none'}>"


UNCOUNTED: Final = Unknown("not counted")
MORE: Final = "+"
"""Before the addresses of blocks that are not all that a name holds."""


@dataclass(frozen=True, slots=True)
class Held:
    """One name of a namespace at the time of a snapshot."""

    name: str
    type_name: str
    identity: str
    """Address and type. CPython stores no creation time: a new object of the same type at an old object's
    address looks kept."""
    references: int | Unknown
    bytes: int | Unknown
    """Of all that it reaches, with what that keeps unseen: an index, a graph, the rest of a base."""
    where: str = field(default="", compare=False)
    """Addresses of its blocks, "7f00-7f10 7f80-7f90", with "+" before if it is more than these. A str: no
    census counts it."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The census and the names at one moment. `snapshot() - earlier` is a Difference."""

    heap: Heap
    names: tuple[Held, ...]
    resident_bytes: int | Unknown
    """Resident set of the process (VmRSS, proc(5))."""
    complete: bool = True
    """Whether all that the names reach was walked; modules and code are never."""
    named_bytes: int | Unknown = UNCOUNTED
    """Of all that the names reach, as `Held.bytes`, but each byte once."""

    def __repr__(self) -> str:
        return (
            f"<Snapshot: {self.heap.objects:,} objects, {self.heap.bytes:,} bytes, {len(self.names)} names>"
        )

    def __sub__(self, earlier: Snapshot) -> Difference:
        """What changed since `earlier`."""
        return subtract(self, earlier) if isinstance(earlier, Snapshot) else NotImplemented


@dataclass(frozen=True, slots=True)
class TypeChange:
    """How the census of one type changed."""

    type_name: str
    objects: int
    bytes: int


@dataclass(frozen=True, slots=True)
class NameChange:
    """How one name changed."""

    name: str
    change: str
    """"born", "gone", "rebound" or "kept"."""
    type_name: str
    references: int | Unknown
    """Now minus before; for a born name the count itself."""
    bytes: int | Unknown
    of: str = ""
    """The older name whose bytes a new one shows: a view of it, or another name for it."""


@dataclass(frozen=True, slots=True)
class NewHolder:
    """What holds new objects that no name of the user's was found to hold."""

    name: str
    """As a user could type it, `Client._cache`; "": none was found."""
    held: int
    """How many of those looked at it holds."""
    looked_at: int


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed between two snapshots; unchanged rows are left out."""

    objects: int
    bytes: int
    resident_bytes: int | Unknown
    types: tuple[TypeChange, ...]
    names: tuple[NameChange, ...]
    walk_ns: int
    """Time of both heap walks together."""
    complete: bool = True
    """Whether both snapshots are of all that the names reach."""
    grew: tuple[Grown, ...] = ()
    """Rows of the process's account that grew; () where it was not asked or nothing did."""
    holder: NewHolder = NewHolder("", 0, 0)
    """Of the newest objects, if they are much of what grew beside the names."""
    named_bytes: int | Unknown = UNCOUNTED
    """How many bytes more all names reach together, each byte once."""

    def __repr__(self) -> str:
        names = ", ".join(f"{row.name} {row.change}" for row in self.names[:3])
        most = ", ".join(f"{row.type_name} {row.bytes:+,}" for row in self.types[:3])
        words = [f"{self.objects:+,} objects, {self.bytes:+,} bytes", *filter(None, (most, names))]
        return f"<Difference: {'; '.join(words)}>"


def subtract(later: Snapshot, earlier: Snapshot) -> Difference:
    """Later minus earlier: types by changed bytes; names in the later order, deleted names last."""
    return Difference(
        later.heap.objects - earlier.heap.objects,
        later.heap.bytes - earlier.heap.bytes,
        _minus(later.resident_bytes, earlier.resident_bytes),
        _types(later.heap, earlier.heap),
        _names(later.names, earlier.names),
        later.heap.walk_ns + earlier.heap.walk_ns,
        later.complete and earlier.complete,
        named_bytes=_minus(later.named_bytes, earlier.named_bytes),
    )


def _minus(later: int | Unknown, earlier: int | Unknown) -> int | Unknown:
    if isinstance(later, Unknown):
        return later
    return earlier if isinstance(earlier, Unknown) else later - earlier


def _types(later: Heap, earlier: Heap) -> tuple[TypeChange, ...]:
    now = {row.type_name: (row.objects, row.bytes) for row in later.types}
    before = {row.type_name: (row.objects, row.bytes) for row in earlier.types}
    changes = []
    for name in now.keys() | before.keys():
        (objects, size), (objects_before, size_before) = now.get(name, (0, 0)), before.get(name, (0, 0))
        if (objects, size) != (objects_before, size_before):
            changes.append(TypeChange(name, objects - objects_before, size - size_before))
    return tuple(sorted(changes, key=lambda row: (-abs(row.bytes), -abs(row.objects), row.type_name)))


def _names(later: tuple[Held, ...], earlier: tuple[Held, ...]) -> tuple[NameChange, ...]:
    before = {held.name: held for held in earlier}
    now = {held.name: held for held in later}
    stayed = [held for held in earlier if held.name in now and now[held.name].identity == held.identity]
    rows = [_name(held, before.get(held.name)) for held in later if held != before.get(held.name)]
    changes = [
        replace(row, of=_shown_of(now[row.name], stayed)) if row.change in ("born", "rebound") else row
        for row in rows
    ]
    gone = [NameChange(held.name, "gone", held.type_name, held.references, held.bytes) for held in earlier]
    return tuple(changes) + tuple(change for change in gone if change.name not in now)


def _name(held: Held, before: Held | None) -> NameChange:
    if before is None:
        return NameChange(held.name, "born", held.type_name, held.references, held.bytes)
    change = "kept" if held.identity == before.identity else "rebound"
    references = _minus(held.references, before.references)
    return NameChange(held.name, change, held.type_name, references, _minus(held.bytes, before.bytes))


def _shown_of(held: Held, stayed: list[Held]) -> str:
    """The name that was there before, and still is, with all bytes of a new one; "" if there is none."""
    own = [] if held.where.startswith(MORE) else _pairs(held.where)
    for other in stayed:
        theirs = _pairs(other.where)
        if own and all(any(a <= start and stop <= b for a, b in theirs) for start, stop in own):
            return other.name
    return ""


def _pairs(where: str) -> list[tuple[int, int]]:
    both = (one.partition("-") for one in where.removeprefix(MORE).split())
    return [(int(start, 16), int(stop, 16)) for start, _, stop in both]


def by_name(rows: list[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    """Rows (type name, objects, bytes) with those of one name joined; most bytes first."""
    merged: dict[str, tuple[int, int]] = {}
    for name, objects, own_bytes in rows:
        before = merged.get(name, (0, 0))
        merged[name] = (before[0] + objects, before[1] + own_bytes)
    return sorted(((name, *sums) for name, sums in merged.items()), key=lambda row: (-row[2], row[0]))
