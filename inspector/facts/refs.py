"""The refcount of an object, its owners by name, and the references that the owners do not explain."""

# SPDX-License-Identifier: MIT
import re
from collections.abc import Iterator
from dataclasses import replace

from inspector.facts.record import dataclass
from inspector.facts.unknown import Address, ImmortalType, Unknown

NOT_MEASURED = Unknown("not measured yet")


@dataclass(frozen=True, slots=True)
class Owner:
    """One place where references to the object are stored."""

    kind: str
    """One of OWNER_KINDS."""
    holder: str
    """The holder in a user's words: "cell 5", "dict (3 items)", "libfoo.so"."""
    key: str
    """Place in the holder: "['k']", "[0]", ".attr", "x"; "" if it has none."""
    references: int
    certain: bool
    """True for a gc object whose list links are consistent, or an exact type read by a tested layout."""
    address: Address
    """The holder's address; for native owners the address of the pointer itself."""
    symbol: str | Unknown
    library: str | Unknown
    path: str = ""
    """What a user could type for what it holds: `S.cache[3]`; "" if unknown, or nobody asked."""
    do: str = ""
    """The code that lets it go; "" if there is none."""

    @property
    def short(self) -> str:
        """`x`, `rows[0]`, `<Table>.rows`, `libfoo.so registry`: the holder by its name if it has one."""
        named = _NAMED.search(self.holder)
        if self.kind in ("local", "global", "history", "generator local", "traceback local"):
            return f"{self.holder}{self.key}" if self.key[:1] == "[" else self.key
        if self.kind == "cell" and named:
            return f"{named[1]} in a closure"
        if self.kind == "R environment":
            return self.holder
        if self.kind in ("static", "heap block", "stack", "mapping"):
            return f"{self.holder} {self.key}".rstrip()
        if self.kind == "thread-local":
            return f"{self.key.removeprefix('.')} of a threading.local"
        key = "" if self.key.startswith("+0x") else self.key  # a field of C has no name that says more
        between = ", " if key[:1].isalpha() else ""
        return (named[1] if named else self.holder.partition(",")[0].partition(" (")[0]) + between + key


def _as_one(group: list[Owner]) -> Owner:
    first = next((owner for owner in group if owner.path[:4] == "Out["), group[0])
    ways = dict.fromkeys(one.do for one in (first, *group) if one.do)  # some need more than one
    return replace(first, references=sum(owner.references for owner in group), do=", then ".join(ways))


LAST_RESULT = "ExecutionResult"
"""Holder of what IPython keeps of the cell before, until the running one ends."""
_NAMED = re.compile(r"`([^`]+)`")
_IN_LINE = 4
"""How many owners the repr names at most."""


@dataclass(frozen=True, slots=True)
class Scan:
    """Amounts and times of a search of the process's memory."""

    scanned_bytes: int
    scan_ns: int
    verify_ns: int
    hits: int
    stale: int
    """Pointers found in freed blocks, dead frames and unused slots."""
    left_out_bytes: int
    """Not searched: payloads of known numeric buffers, and pages that were never touched."""


@dataclass(frozen=True, slots=True)
class Owners:
    """The owners of an object, and how much of its refcount they explain."""

    references: int | ImmortalType
    """The refcount without the tool's own reference."""
    owners: tuple[Owner, ...]
    unnamed: int | Unknown
    """References not yet named because memory was not searched; 0 after a scan."""
    native: int | Unknown
    """References stored by C: statics, malloc'ed blocks. Unknown without a scan."""
    unstored: int | Unknown
    """References stored nowhere in readable private memory: leaked, in a register, or encoded."""
    scan: Scan | Unknown
    searchable_bytes: int
    """Memory that a scan would read; 0 where none can be made."""
    notes: tuple[str, ...] = ()
    estimated_ns: int | Unknown = NOT_MEASURED
    """Time of a scan at the speed measured last."""

    def __iter__(self) -> Iterator[Owner]:
        """Owners, certain ones first."""
        return iter(self.owners)

    def __len__(self) -> int:
        return len(self.owners)

    def __repr__(self) -> str:
        """One line: the refcount, the certain owners by name, and the rest."""
        held = [owner.short for owner in self.owners if owner.certain]
        more = [f"{len(held) - _IN_LINE} more"] if len(held) > _IN_LINE else []
        gap = (
            ("in native code", self.native),
            ("not stored", self.unstored),
            ("not yet named", self.unnamed),
        )
        left = [f"{count} {words}" for words, count in gap if not isinstance(count, Unknown) and count]
        said = " · ".join([*held[:_IN_LINE], *more])
        many = "" if self.references == 1 else "s"
        return (
            f"<Owners of {self.references} reference{many}{': ' if said else ''}{'; '.join([said, *left])}>"
        )

    @property
    def why_unsearchable(self) -> str:
        """Why no scan can name more; "" where one can be asked for."""
        return self.scan.reason if isinstance(self.scan, Unknown) and not self.searchable_bytes else ""

    @property
    def holders(self) -> tuple[Owner, ...]:
        """Owners; one of IPython's history (`Out[4]`, `_4`, `_`) and one of each frame of a traceback."""
        groups: dict[object, list[Owner]] = {}
        for number, owner in enumerate(self.owners):
            same = {"history": "history", "traceback local": owner.holder}.get(owner.kind, number)
            groups.setdefault(same, []).append(owner)
        return tuple(map(_as_one, groups.values()))

    @property
    def named(self) -> int:
        """Number of references of certain owners."""
        return sum(owner.references for owner in self.owners if owner.certain)

    @property
    def possible(self) -> tuple[Owner, ...]:
        """Owners that may hold a reference or only a borrowed or stale pointer."""
        return tuple(owner for owner in self.owners if not owner.certain)


@dataclass(frozen=True, slots=True)
class Refs:
    """How many references an object has, who holds them, and its weak references."""

    references: int | ImmortalType
    owners: Owners
    weakrefs: int | Unknown
    """Live weak references; unknown if the type does not support them."""


@dataclass(frozen=True, slots=True)
class Retained:
    """What only this object keeps alive, and what is freed with it."""

    objects: int
    retained_bytes: int | Unknown
    """Unknown where something that it keeps cannot be followed."""
    by_type: tuple[tuple[str, int, int], ...]
    """(type name, objects, bytes), most bytes first."""
    never_freed_bytes: int | Unknown = 0
    """Of what only it keeps too, and nothing frees: a cycle through references that no collection sees."""

    def __repr__(self) -> str:
        kept = self.retained_bytes
        size = f"bytes unknown: {kept.reason}" if isinstance(kept, Unknown) else f"{kept:,} bytes"
        return f"<Retained: {self.objects:,} objects, {size}>"


OWNER_KINDS = (
    "global",
    "local",
    "generator local",
    "traceback local",
    "cell",
    "attribute",
    "slot",
    "item",
    "bound method",
    "cache",
    "module state",
    "thread-local",
    "context variable",
    "history",
    "type",
    "base",
    "callback",
    "static",
    "heap block",
    "stack",
    "mapping",
    "R environment",
    "unknown holder",
)
