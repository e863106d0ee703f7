"""Draws the references to an object: the count, one line per owner, and the unexplained references."""

# SPDX-License-Identifier: MIT
import re
from collections.abc import Iterator
from dataclasses import replace

from inspector.facts.amounts import counted
from inspector.facts.refs import Owner, Owners, Refs, Scan
from inspector.facts.unknown import ImmortalType, Unknown
from inspector.views.amounts import known, size
from inspector.views.grammar import Block, Fold, Line, Span, Table, text
from inspector.views.view import blocks

_SHOWN = 6
_SHORT_SHOWN = 3
_NATIVE = ("static", "heap block", "stack", "unknown holder")
_COUNT = "How many references keep the object alive, without the tool's own; and their owners."
_LINK = "docs/reference/owners.md#the-count"


@blocks.register
def _refs(fact: Refs) -> tuple[Block, ...]:
    return _drawn(fact.owners, fact.weakrefs)


@blocks.register
def _owners(fact: Owners) -> tuple[Block, ...]:
    return _drawn(fact, Unknown("not asked"))


def _drawn(fact: Owners, weakrefs: int | Unknown) -> tuple[Block, ...]:
    if isinstance(fact.scan, Scan):
        notes = tuple(Line("", text(note, "dim")) for note in fact.notes)
        return (_searched(fact, fact.scan), *notes, *_weak(weakrefs))
    return (_quick_referrers(fact), *_to_name(fact), *_weak(weakrefs))


def _quick_referrers(fact: Owners) -> Line:
    """The line of the default card, without a memory scan: the count and the quick referrers."""
    short = [owner.short for owner in fact.owners if owner.certain]
    more = [f"{len(short) - _SHORT_SHOWN} more"] if len(short) > _SHORT_SHOWN else []
    evidence = " · ".join(short[:_SHORT_SHOWN] + more)
    value = (*known(fact.references), Span(f"  {evidence}" if evidence else "", "dim"))
    return Line("refs", value, _how_many_named(fact), _COUNT, _LINK)


def _how_many_named(fact: Owners) -> tuple[Span, ...]:
    if isinstance(fact.references, ImmortalType):
        return text("never freed (PEP 683)", "dim")
    if fact.references == 0:
        return text("held only by the inspecting expression", "dim")
    if fact.unnamed == 0:
        return text("named" if fact.references == 1 else f"all {fact.references:,} named", "dim")
    return text(f"{fact.named:,} of {fact.references:,} named", "dim")


def _to_name(fact: Owners) -> tuple[Block, ...]:
    """The cost of a scan, if one could name more owners."""
    if isinstance(fact.unnamed, Unknown) or fact.unnamed == 0:
        return ()
    references = "1 reference" if fact.unnamed == 1 else f"{fact.unnamed:,} references"
    cost = fact.why_unsearchable or f"--owners scans {size(fact.searchable_bytes)}"
    if not isinstance(fact.estimated_ns, Unknown):
        cost += f" in about {_seconds(fact.estimated_ns)}"
    explain = "A search of the process's memory finds every pointer to the object, in native code too."
    return (Line("", text(f"{references} not yet named: {cost}", "warn"), (), explain, _LINK),)


def _seconds(ns: int) -> str:
    seconds = ns / 1e9
    if seconds >= 1:
        return f"{seconds:.1f} s"
    return f"{max(round(seconds * 1000), 1)} ms" if seconds < 0.1 else f"{seconds:.1f} s"


def _searched(fact: Owners, scan: Scan) -> Fold:
    rows = [_row(owner) for owner in fact.owners] + _gap_rows(fact)
    left_out = f"; {size(scan.left_out_bytes)} never touched or known numbers" if scan.left_out_bytes else ""
    took = f"scanned {size(scan.scanned_bytes)} in {_seconds(scan.scan_ns + scan.verify_ns)}"
    hits = f"{took}; {scan.hits:,} pointers found, {scan.stale:,} stale{left_out}"
    summary = Line("refs", (*known(fact.references), Span(f"  {_balance(fact)}")), (), _COUNT, _LINK)
    return Fold(summary, (Table(("", "", ""), tuple(rows), (), hits),), _SHOWN)


def holders(fact: Owners, scan: Scan) -> Iterator[Block]:
    """The holders that a search found: the path to type, how to let go, what it is; certain ones first."""
    order = sorted(fact.holders, key=lambda owner: (not owner.certain, not owner.path))
    rows = [_holder(owner) for owner in order] + [(row[1], (), row[2]) for row in _gap_rows(fact)]
    took = f"{size(scan.scanned_bytes)} searched in {_seconds(scan.scan_ns + scan.verify_ns)}"
    count = fact.references if isinstance(fact.references, int) else 0
    value = (Span(counted(count, "reference")),)
    yield Fold(
        Line("held by", value, text(took, "dim"), _COUNT, _LINK), (Table(("", "", ""), tuple(rows)),), _SHOWN
    )
    yield from (Line("", text(note, "dim")) for note in fact.notes)


_LET_GO = {"traceback local": "as long as the error lives", "static": "only its own code"}
"""Kind of owner -> what is said where no code lets it go."""


def _holder(owner: Owner) -> tuple[tuple[Span, ...], ...]:
    """Its path, the code that lets it go, and what it is; "perhaps" where the pointer proves no reference."""
    native = owner.kind in _NATIVE
    what, where = _said(owner)
    if owner.path:  # which says where the holder is
        where = owner.holder if owner.kind == "cache" else where.partition(", ")[0]
    times = f"  ×{owner.references:,}" if owner.references > 1 else ""
    style = "native" if native else "code"
    do = text(owner.do, "code") if owner.do else text(_LET_GO.get(owner.kind, ""), "dim")
    said = where if owner.certain else f"perhaps: {where}"
    return text((owner.path or what) + times, style), do, text(said, "dim")


def _balance(fact: Owners) -> str:
    """`3 named, 1 in native code, 1 not stored anywhere readable`; parts that are 0 are left out."""
    if isinstance(fact.references, ImmortalType):
        return f"{fact.named:,} holders named"
    parts = [f"{fact.named:,} named"]
    for count, said in ((fact.native, "in native code"), (fact.unstored, "not stored anywhere readable")):
        if isinstance(count, Unknown):
            return f"{parts[0]}; the rest {count}"
        if count:
            parts.append(f"{count:,} {said}")
    return "all " + parts[0] if len(parts) == 1 and fact.named == fact.references > 1 else ", ".join(parts)


def _gap_rows(fact: Owners) -> list[tuple[tuple[Span, ...], ...]]:
    if isinstance(fact.unstored, Unknown) or fact.unstored == 0:
        return []
    count = "1 reference" if fact.unstored == 1 else f"{fact.unstored:,} references"
    said = text(f"{count} without a holder", "danger")
    return [(text("gap", "danger"), said, text("leaked, in a register, or encoded", "dim"))]


def _row(owner: Owner) -> tuple[tuple[Span, ...], ...]:
    sure = text("certain", "good") if owner.certain else text("possible", "dim")
    style = "native" if owner.kind in _NATIVE else "python"
    times = f"  ×{owner.references:,}" if owner.references > 1 else ""
    what, where = _said(owner)
    return sure, text(what + times, style), text(where, "dim")


_ABI_TAG = re.compile(r"\.(cpython|abi3|pypy)[\w-]*(?=\.so)")
"""`_decimal.cpython-311-x86_64-linux-gnu.so` is drawn as `_decimal.so`; JSON keeps the whole path."""


def _said(owner: Owner) -> tuple[str, str]:
    """The owner as Python code would name it, and its kind."""
    if owner.kind in _NATIVE:
        owner = replace(owner, holder=_ABI_TAG.sub("", owner.holder))
    if owner.kind in ("local", "global"):
        return owner.key, f"{owner.kind} of {owner.holder}"
    if owner.kind == "history":
        return owner.holder + owner.key if owner.key[:1] == "[" else owner.key, "IPython's history"
    if owner.kind == "static":
        return f"{owner.holder}  {owner.key}", "C static"
    if owner.kind in ("generator local", "traceback local"):
        return owner.key, f"local of a {owner.holder}"
    if owner.kind == "item":
        return owner.short, f"item of {owner.holder}"
    if owner.kind == "thread-local":
        return owner.short, "one thread's own"
    if owner.kind in ("attribute", "slot", "type", "bound method", "base"):
        return owner.short, f"{owner.kind} of {owner.holder}"
    between = ", " if owner.key[:1].isalpha() else ""
    return f"{owner.holder}{between}{owner.key}", owner.kind


def _weak(count: int | Unknown) -> tuple[Block, ...]:
    if isinstance(count, Unknown) or count == 0:
        return ()
    said = "1 weak reference" if count == 1 else f"{count:,} weak references"
    return (Line("", text(said, "dim"), (), "Weak references keep nothing alive; counted separately."),)
