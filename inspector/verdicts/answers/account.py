"""The sentence about a process's memory: what it holds, and what most of it is."""

# SPDX-License-Identifier: MIT
from dataclasses import replace
from typing import Final

from inspector.facts.account import Account, AccountPart, AccountRow, GivenBack, LargeObject
from inspector.facts.amounts import counted, size
from inspector.facts.answers import Answer
from inspector.facts.heap import Heap
from inspector.verdicts.answers.words import answer, code, library, listed

MOST_NAMED: Final = 3
LEAST_SHARE: Final = 0.1
"""Of the whole: a smaller row is not worth a place in the sentence."""
FEW: Final = 0.02
MOST: Final = 0.8
"""Of the free memory: what a call gives back beyond it is nearly all."""
CLEAR: Final = 0.5
"""Of a row: a part that large is named alone."""


def with_answers(account: Account) -> Account:
    """The account with its sentence."""
    total = account.resident_bytes
    shown = [row for row in account.rows if row.resident_bytes >= LEAST_SHARE * total]
    shown = sorted(shown, key=lambda row: -row.resident_bytes)[:MOST_NAMED]
    phrases = [_phrase(row, account) for row in shown]
    who = "This process" if account.is_self else f"Process {account.pid}"
    text = f"{who} holds {size(total)}" + (f": {listed(phrases)}." if phrases else ".")
    if account.pooled_bytes:
        text += f" {size(account.pooled_bytes)} of huge pages come on top, which no resident set counts."
    if account.malloc:
        text += f" {code('malloc')} is {account.malloc}'s: its blocks, live and free, are not told apart."
    evidence = [f"account.rows.{row.kind}" for row in shown]
    first = answer("account", text, *evidence, costs_bytes=total)
    return replace(
        account, answers=(first, *(_held(account) or _hung(account)), *map(_returnable, account.returnable))
    )


def _held(account: Account) -> tuple[Answer, ...]:
    """Which name most of the largest objects hang on: "At least 32 MB of it hang on `history`"."""
    hung = dict[str, list[LargeObject]]()
    for one in account.largest:
        hung.setdefault(_name(one.path), []).append(one)
    sums = {name: sum(one.resident_bytes for one in some) for name, some in hung.items() if name}
    most = max(sums, key=sums.__getitem__, default="")
    if sums.get(most, 0) < LEAST_SHARE * account.resident_bytes:
        return ()
    first, amount = hung[most][0], size(sums[most])
    text = f"{amount} of it are one {first.type_name}, held by {code(first.path)}."
    if len(hung[most]) > 1:
        text = f"At least {amount} of it hang on {code(most)}: {len(hung[most])} of the largest objects."
    return (answer("held", text, "account.largest", costs_bytes=sums[most]),)


def _hung(account: Account) -> tuple[Answer, ...]:
    """The name that keeps most: "`history` keeps 80 MB in 200 objects"."""
    most = account.hung[0] if account.hung else None
    if most is None or most.bytes < LEAST_SHARE * account.resident_bytes:
        return ()
    text = f"{code(most.name)} keeps {size(most.bytes)} in all, in {counted(most.objects, 'object')}."
    return (answer("held", text, "account.hung", costs_bytes=most.bytes, about=(most.name,)),)


def _name(path: str) -> str:
    """What a path begins with, before its first key: `history` of `history[0]`."""
    return path.partition("[")[0].partition(" → ")[0]


def of_heap(heap: Heap) -> Heap:
    """The census with its sentence: "132,225 objects have 80 MB: 59 MB are 6 objects of numpy.ndarray"."""
    most = [row for row in heap.types if row.bytes >= LEAST_SHARE * heap.bytes][:MOST_NAMED]
    parts = (
        f"{size(row.bytes)} are {counted(row.objects, 'object')} of {code(row.type_name)}" for row in most
    )
    mostly = f": {listed(parts)}" if most else ""
    text = f"{counted(heap.objects, 'object')} have {size(heap.bytes)}{mostly}."
    return replace(heap, answers=(answer("heap", text, "heap.types", costs_bytes=heap.bytes),))


def _returnable(row: GivenBack) -> Answer:
    """What a call would give back, and why it is no more."""
    call, kept = code(row.call), size(row.kept_bytes)
    much = f"{call} gives {size(row.freed_bytes)} of free memory back to the system"
    none = f"{call} gives almost none of {kept} back: live blocks lie on the same pages"
    few = f", of {kept}: live blocks lie on the pages of the rest"
    share = row.freed_bytes / row.kept_bytes
    text = none if share < FEW else much if share > MOST else much + few
    return answer("give-back", f"{text}.", "account.returnable", do=row.call, costs_bytes=row.freed_bytes)


def _phrase(row: AccountRow, account: Account) -> str:
    amount = size(row.resident_bytes)
    are = "is" if amount.startswith("1 ") else "are"
    first = row.parts[0]
    if row.kind in ("objects", "buffers"):
        what = "Python objects" if row.kind == "objects" else "arrays and buffers"
        return f"{amount} {are} {what}{_mostly(row, first)}"
    if row.kind == "mapped" and account.malloc and first.name == account.malloc:
        return f"{amount} is memory that {account.malloc} mapped to give it out"
    if row.kind == "mapped":
        return f"{amount} is memory that {_owners(row)} mapped for {'itself' if _one(row) else 'themselves'}"
    if row.kind == "free":
        return f"{amount} is free memory that {_owners(row)} {'keeps' if _one(row) else 'keep'}"
    if row.kind == "unexplained" and not account.is_self:
        return f"{amount} {are} anonymous memory of no allocator that can be told from outside"
    return f"{amount} {are} {_PLAIN[row.kind]}"


_PLAIN: Final = {
    "lost": "objects that nothing reaches and no collection frees (`inspector.lost()`)",
    "r": "vectors and cells of R, live or not yet collected",
    "blocks": "live blocks of C code, which no Python object is known to hold",
    "heap": "its heap, live and free",
    "libraries": "code and data of libraries",
    "files": "mapped files",
    "shared": "shared memory",
    "stacks": "stacks of threads",
    "code": "machine code made at run time",
    "tool": "this tool's",
    "unexplained": "not explained",
}


def _one(row: AccountRow) -> bool:
    return row.parts[0].resident_bytes >= 0.9 * row.resident_bytes or len(row.parts) == 1


def _owners(row: AccountRow) -> str:
    shown = row.parts[:1] if _one(row) else row.parts[:2]
    return listed([part.name for part in shown])


def _mostly(row: AccountRow, first: AccountPart) -> str:
    """ ", nearly all numpy.ndarray"; "" where no type stands out."""
    if "." not in first.name and row.kind == "buffers":
        return ""
    share = first.resident_bytes / row.resident_bytes
    if share < CLEAR or " " in first.name:
        return ""
    by = library(first.name) if row.kind == "buffers" else ""
    whose = f" of {by}" if by else f" of type {first.name}"
    return whose if share > 0.9 else f", most of them{whose}"
