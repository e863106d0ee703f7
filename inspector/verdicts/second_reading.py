"""The verdicts on references after the second reading: what only one reading says is possible."""

# SPDX-License-Identifier: MIT
from dataclasses import replace
from typing import Final

from inspector.facts.amounts import counted
from inspector.facts.leaks import OUTSIDE, FurtherCalls, Leaks, Verdict

LEAVING: Final = ("leaked", "buffer not released", "capsule leaked", OUTSIDE)
"""Faults that leave something with every call."""


def agreed(fact: Leaks, further: FurtherCalls) -> Leaks:
    """The fact; a certain leak is possible if the further calls left nothing of it."""
    verdicts = tuple(_read(one, further) if one.certain and one.kind in LEAVING else one for one in fact)
    left = _left(further)
    notes = fact.notes
    if left and not any(one.kind in LEAVING for one in verdicts):
        notes = (*notes, f"{further.calls} further calls left {left}, and no verdict says why")
    return replace(fact, verdicts=tuple(sorted(verdicts, key=lambda one: not one.certain)), notes=notes)


def _read(one: Verdict, further: FurtherCalls) -> Verdict:
    if one.kind == OUTSIDE:
        left = _bytes(further)
    else:
        kind = one.object_type
        rose = dict(further.references).get("type" if kind == "class" else kind, 0)
        left = _blocks(further) or (f"{rose} references to one object of its type" if rose else "")
    if left:
        return replace(one, reason=f"{one.reason}; {further.calls} further calls left {left}")
    return replace(
        one, certain=False, reason=f"{one.reason}; but {further.calls} further calls left nothing of it"
    )


def _left(further: FurtherCalls) -> str:
    references = ", ".join(f"{count} references to one {kind}" for kind, count in further.references)
    return ", ".join(filter(None, (_blocks(further), _bytes(further), references)))


def _blocks(further: FurtherCalls) -> str:
    return counted(further.blocks, "block") if further.blocks else ""


def _bytes(further: FurtherCalls) -> str:
    return f"{further.bytes:,} B of malloc" if further.bytes else ""
