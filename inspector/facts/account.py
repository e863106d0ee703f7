"""The account of a process: every resident byte once, by what it is for."""

# SPDX-License-Identifier: MIT
from dataclasses import replace
from typing import Final

from inspector.facts.answers import Answer
from inspector.facts.record import dataclass

KINDS: Final = {
    "objects": "Python objects",
    "buffers": "arrays and buffers",
    "lost": "lost objects",
    "r": "R's heap",
    "blocks": "blocks of C code",
    "mapped": "mapped by libraries",
    "free": "free, kept",
    "heap": "heap",
    "libraries": "libraries",
    "files": "mapped files",
    "shared": "shared memory",
    "stacks": "thread stacks",
    "code": "machine code made",
    "tool": "this tool",
    "unexplained": "not explained",
}
"""Kind of a row -> what it is called."""


@dataclass(frozen=True, slots=True)
class AccountPart:
    """One part of a row."""

    name: str
    """A type, a library, an allocator, a file or an address range."""
    resident_bytes: int
    count: int
    """Objects, blocks or mappings; 0 where they were not counted."""


@dataclass(frozen=True, slots=True)
class AccountRow:
    """Memory of one kind."""

    kind: str
    """A key of KINDS."""
    resident_bytes: int
    proportional_bytes: int
    """The same, where a page that several processes share counts in part (Pss, proc_pid_smaps(5))."""
    parts: tuple[AccountPart, ...]
    """The largest first; they add up to the row."""


@dataclass(frozen=True, slots=True)
class LargeObject:
    """One of the largest objects, by its largest block of memory."""

    type_name: str
    resident_bytes: int
    path: str
    """What a user could type, `models['a'][0]`, or the ends of a path that cannot be typed; "": no root
    reaches it."""


@dataclass(frozen=True, slots=True)
class GivenBack:
    """What a call gives back to the system of memory that an allocator keeps, as tried in a copy."""

    call: str
    """As a user types it."""
    kept_bytes: int
    freed_bytes: int
    """Fewer than it keeps, where live blocks lie on the same pages."""


@dataclass(frozen=True, slots=True)
class Grown:
    """How much more a row of the account holds than before."""

    kind: str
    """A key of KINDS."""
    bytes: int
    name: str
    """The part that grew most; "" where none grew by half of it."""


@dataclass(frozen=True, slots=True)
class Hung:
    """What a name keeps in all."""

    name: str
    bytes: int
    """Also what others keep too, and pages that were never touched."""
    objects: int


@dataclass(frozen=True, slots=True)
class Account:
    """All resident memory of a process; the rows add up to it."""

    pid: int
    is_self: bool
    """False for another process: it is read from outside, where the types of its blocks are not known."""
    resident_bytes: int
    """Sum of Rss over all mappings (proc_pid_smaps(5))."""
    proportional_bytes: int
    swapped_bytes: int
    rows: tuple[AccountRow, ...]
    took_ns: int
    largest: tuple[LargeObject, ...] = ()
    """The largest objects, if they were asked for."""
    returnable: tuple[GivenBack, ...] = ()
    """What could be given back, if it was asked for."""
    answers: tuple[Answer, ...] = ()
    pooled_bytes: int = 0
    """Huge pages of the system's pool (hugetlbfs): the kernel counts them in no resident set."""
    malloc: str = ""
    """The library whose malloc is called instead of glibc's: its blocks are not told apart."""
    hung: tuple[Hung, ...] = ()
    """The names that keep most, where the largest objects were asked for and say too little."""

    def row(self, kind: str) -> AccountRow:
        """The row of a kind; an empty one where there is none."""
        return next((row for row in self.rows if row.kind == kind), AccountRow(kind, 0, 0, ()))

    def __repr__(self) -> str:
        most = ", ".join(f"{KINDS[row.kind]} {row.resident_bytes:,}" for row in self.rows[:3])
        return f"<Account: {self.resident_bytes:,} bytes resident; most: {most or 'none'}>"


def brief(account: Account, most: int = 8) -> Account:
    """The account with its rows alone, of each the largest parts, the others as one: it adds up as before."""
    rows = tuple(replace(row, parts=_largest(row.parts, most)) for row in account.rows)
    return replace(account, rows=rows, largest=(), returnable=(), answers=())


def _largest(parts: tuple[AccountPart, ...], most: int) -> tuple[AccountPart, ...]:
    rest = parts[most:]
    if len(rest) < 2:
        return parts
    size = sum(part.resident_bytes for part in rest)
    return (*parts[:most], AccountPart(f"{len(rest):,} more", size, sum(part.count for part in rest)))


MOST_OWN: Final = 8 << 20
"""What making an account takes at most: more than that others asked for meanwhile."""


def up_to_date(account: Account, resident: int, proportional: int) -> Account:
    """The account with what came while it was made: the resident set is `resident` by now."""
    came = resident - account.resident_bytes
    if came <= 0:
        return account
    kind = "tool" if came <= MOST_OWN else "unexplained"
    part, share = (
        AccountPart("came while this account was made", came, 0),
        proportional - account.proportional_bytes,
    )
    old = account.row(kind)
    parts = tuple(sorted((*old.parts, part), key=lambda one: -one.resident_bytes))
    row = AccountRow(kind, old.resident_bytes + came, max(0, old.proportional_bytes + share), parts)
    rows = sorted(
        (row, *(one for one in account.rows if one.kind != kind)),
        key=lambda one: (one.kind == "unexplained", -one.resident_bytes),
    )
    return replace(account, resident_bytes=resident, proportional_bytes=proportional, rows=tuple(rows))


def less_lost(account: Account, kept: tuple[AccountPart, ...], buffers: tuple[AccountPart, ...]) -> Account:
    """The account, in which lost objects and their buffers have a row of their own."""
    rows, moved = list[AccountRow](), dict[str, AccountPart]()
    for row in account.rows:
        lost = {part.name: part for part in {"objects": kept, "buffers": buffers}.get(row.kind, ())}
        rows.append(_less(row, lost, moved))
    if moved:
        parts = tuple(sorted(moved.values(), key=lambda part: -part.resident_bytes))
        size = sum(part.resident_bytes for part in parts)
        rows.append(AccountRow("lost", size, size, parts))
    rows.sort(key=lambda row: (row.kind == "unexplained", -row.resident_bytes))
    return replace(account, rows=tuple(rows))


def _less(row: AccountRow, lost: dict[str, AccountPart], moved: dict[str, AccountPart]) -> AccountRow:
    """The row without what is lost of its parts, which is added to `moved`."""
    left, less = list[AccountPart](), 0
    for part in row.parts:
        size = min(part.resident_bytes, lost[part.name].resident_bytes) if part.name in lost else 0
        if size:
            old = moved.get(part.name, AccountPart(part.name, 0, lost[part.name].count))
            moved[part.name] = replace(old, resident_bytes=old.resident_bytes + size)
        less += size
        left.append(replace(part, resident_bytes=part.resident_bytes - size))
    kept = tuple(part for part in left if part.resident_bytes)
    return AccountRow(row.kind, row.resident_bytes - less, max(0, row.proportional_bytes - less), kept)


def grown(earlier: Account, later: Account) -> tuple[Grown, ...]:
    """The rows that hold more than before, most first."""
    rows = [_grown(earlier.row(row.kind), row) for row in later.rows]
    return tuple(sorted((row for row in rows if row.bytes > 0), key=lambda row: -row.bytes))


def _grown(before: AccountRow, after: AccountRow) -> Grown:
    change = after.resident_bytes - before.resident_bytes
    old = {part.name: part.resident_bytes for part in before.parts}
    parts = [(part.resident_bytes - old.get(part.name, 0), part.name) for part in after.parts]
    most, name = max(parts, default=(0, ""))
    return Grown(after.kind, change, name if 2 * most >= change else "")
