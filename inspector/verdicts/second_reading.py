"""The verdicts on references after the second reading: what only one reading says is possible."""

# SPDX-License-Identifier: MIT
from dataclasses import replace
from typing import Final

from inspector.facts.amounts import counted
from inspector.facts.leaks import OUTSIDE, Grown, Leaks, Verdict

LEAVING: Final = ("leaked", "buffer not released", "capsule leaked", OUTSIDE)
"""Faults that leave something with every call."""


def agreed(fact: Leaks, grown: Grown) -> Leaks:
    """The fact; a certain leak is possible if the further calls left nothing of it."""
    verdicts = tuple(_read(one, grown) if one.certain and one.kind in LEAVING else one for one in fact)
    left = _left(grown)
    notes = fact.notes
    if left and not any(one.kind in LEAVING for one in verdicts):
        notes = (*notes, f"{grown.calls} further calls left {left}, and no verdict says why")
    return replace(fact, verdicts=tuple(sorted(verdicts, key=lambda one: not one.certain)), notes=notes)


def _read(one: Verdict, grown: Grown) -> Verdict:
    if one.kind == OUTSIDE:
        left = _bytes(grown)
    else:
        kind = one.object.partition(" ")[0].removesuffix("()")
        rose = grown.references.get("type" if kind == "class" else kind, 0)
        left = _blocks(grown) or (f"{rose} references to one object of its type" if rose else "")
    if left:
        return replace(one, reason=f"{one.reason}; {grown.calls} further calls left {left}")
    return replace(
        one, certain=False, reason=f"{one.reason}; but {grown.calls} further calls left nothing of it"
    )


def _left(grown: Grown) -> str:
    references = ", ".join(f"{count} references to one {kind}" for kind, count in grown.references.items())
    return ", ".join(filter(None, (_blocks(grown), _bytes(grown), references)))


def _blocks(grown: Grown) -> str:
    return counted(grown.blocks, "block") if grown.blocks else ""


def _bytes(grown: Grown) -> str:
    return f"{grown.bytes:,} B of malloc" if grown.bytes else ""
