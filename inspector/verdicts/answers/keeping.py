"""What the object keeps alive, and who keeps it."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from inspector.facts.amounts import size
from inspector.facts.answers import Answer
from inspector.facts.refs import Owner, Scan
from inspector.facts.unknown import ImmortalType, Unknown
from inspector.verdicts.answers.copying import copy_of
from inspector.verdicts.answers.words import (
    answer,
    called,
    code,
    counted,
    holder_name,
    known,
    listed,
    number,
    root,
)

Facts = Mapping[str, Any]
LEAST_KEPT_BYTES = 4_096
"""A view that keeps fewer bytes than this besides its own is not worth a sentence."""
MOST_NAMED = 3


def keeping(name: str, facts: Facts) -> Iterator[Answer]:
    """Bytes of a base that live as long as the object does, against the bytes of the object itself."""
    buffer = known(facts, "buffer")
    base = root(buffer) if buffer is not None else None
    if base is None or buffer is None or buffer.owns is not False:
        return
    own, whole = number(buffer.logical_bytes), number(base.bytes)
    if whole - own < LEAST_KEPT_BYTES or whole < 1.5 * own or _is_in_file(facts):
        return
    other = holder_name(base) or (base.shown_by if "numpy." in base.shown_by_type else "")
    kind = base.type_name.rpartition(".")[2]
    of = f"all {size(whole)} of {code(other)}" if other else f"all {size(whole)} of that {kind}"
    copy = copy_of(name, facts)
    instead = f"; {code(copy)} would keep {size(own)}" if copy else ""
    text = f"While {called(name)} lives, {of} stay{instead}."
    yield answer(
        "keeps-base",
        text,
        "buffer.holders",
        "buffer.logical_bytes",
        about=(name, other),
        do=copy,
        costs_bytes=whole,
    )


def _is_in_file(facts: Facts) -> bool:
    fact = known(facts, "materialization")
    return fact is not None and fact.state == "memory-mapped"


def history(name: str, facts: Facts) -> Iterator[Answer]:
    """IPython's history and tracebacks hold the object beyond its names."""
    refs = known(facts, "refs")
    owners = [one for one in refs.owners if one.certain] if refs is not None else []
    if isinstance(refs.references if refs is not None else 0, ImmortalType):
        return
    kept = [one.short for one in owners if one.kind == "history"]
    if kept and name not in kept:
        said = listed(map(code, dict.fromkeys(kept[:3])))
        text = f"IPython's history holds it too, as {said}: `%reset out` lets it go."
        yield answer("history", text, "refs.owners", about=tuple(kept[:3]), do="%reset out")
    if frames := [one for one in owners if one.kind == "traceback local"]:
        first = frames[0]
        text = f"A traceback holds it: it is {code(first.key)} in a {first.holder}."
        yield answer("traceback", text, "refs.owners", about=(first.key,))


def searched(name: str, facts: Facts) -> Iterator[Answer]:
    """After a search of memory: who holds the object by name, and what C code holds without a name."""
    refs = known(facts, "refs")
    if refs is None or not isinstance(refs.owners.scan, Scan) or isinstance(refs.references, ImmortalType):
        return
    owners, evidence = refs.owners, ("refs.owners", "refs.owners.native", "refs.owners.unstored")
    if not owners.references or isinstance(owners.native, Unknown) or isinstance(owners.unstored, Unknown):
        return
    named, others = _by_name(owners.owners)
    parts = [*map(code, named[:MOST_NAMED]), *others[:MOST_NAMED]]
    left = len(named[MOST_NAMED:]) + len(others[MOST_NAMED:])
    parts += [f"{left:,} more"] if left else []
    parts += [f"{counted(owners.native, 'reference')} stored by C code"] if owners.native else []
    lost = counted(owners.unstored, "reference")
    parts += [f"{lost} stored nowhere readable: leaked, in a register, or encoded"] if owners.unstored else []
    if parts:
        many = counted(owners.references, "reference")
        verb = "keeps" if owners.references == 1 else "keep"
        yield answer(
            "holders", f"{many} {verb} it alive: {listed(parts)}.", *evidence, about=tuple(named[:MOST_NAMED])
        )


def _by_name(owners: Iterable[Owner]) -> tuple[list[str], list[str]]:
    """(certain owners that a user can type, the others by their kind: "2 memoryviews")."""
    named: dict[str, None] = {}
    others: dict[str, int] = {}
    for one in owners:
        if not one.certain:
            continue
        if one.kind in ("global", "local", "history") or "`" in one.holder:
            named[one.short] = None
        else:
            kind = one.holder.partition(",")[0].partition(" (")[0].strip("<>")
            others[kind] = others.get(kind, 0) + one.references
    return list(named), [_some(kind, number) for kind, number in others.items()]


def _some(kind: str, number: int) -> str:
    """ "a dict", "2 dicts", "functools.lru_cache of load"."""
    if number > 1:
        return f"{number:,} times {kind}" if " " in kind else counted(number, kind)
    return kind if " " in kind else f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"
