"""What the object keeps alive, and who keeps it."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.facts.amounts import size
from inspector.facts.answers import Answer
from inspector.facts.refs import Owners, Scan
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


def keeping(name: str, facts: Facts) -> Iterator[Answer]:
    """Bytes of a base that live as long as the object does, against the bytes of the object itself."""
    buffer = known(facts, "buffer")
    base = root(buffer) if buffer is not None else None
    if base is None or buffer is None or buffer.owns is not False:
        return
    own, whole = number(buffer.logical_bytes), number(base.bytes)
    if whole - own < LEAST_KEPT_BYTES or whole < 1.5 * own or _is_in_file(facts):
        return
    other = holder_name(base) or base.shown_by
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
    """After a search of memory: how many holders can be reached, and what C code holds without a name."""
    refs = known(facts, "refs") or known(facts, "owners")
    owners = getattr(refs, "owners", None) if not isinstance(refs, Owners) else refs
    if not isinstance(owners, Owners) or not isinstance(owners.scan, Scan):
        return
    if isinstance(owners.references, ImmortalType) or not owners.references:
        return
    native, lost = number(owners.native), number(owners.unstored)
    parts = [counted(owners.named, "reference") + " named below"] if owners.named else []
    parts += [f"{native:,} stored by C code"] if native else []
    parts += [f"{lost:,} that no memory stores: leaked, in a register, or encoded"] if lost else []
    if isinstance(owners.native, Unknown) or not (native or lost):
        return
    text = f"{counted(owners.references, 'reference')}: {listed(parts)}."
    yield answer("native-holders", text, "refs.owners.native", "refs.owners.unstored")
