"""Answers about more than two objects: which of them share memory, and which with none."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator

from inspector.facts.answers import Answer
from inspector.facts.comparison import Side
from inspector.facts.sharing import Pair
from inspector.facts.unknown import Unknown
from inspector.verdicts.pairs.words import EVERY_BYTE, listed

MOST_ANSWERS = 3


def groups(sides: tuple[Side, ...], pairs: tuple[Pair, ...]) -> tuple[Answer, ...]:
    """One sentence for each group of objects that share, one for those that share with none."""
    found = (*_same(sides), *_sharing(sides, pairs), *_alone(sides, pairs))
    return found[:MOST_ANSWERS]


def _same(sides: tuple[Side, ...]) -> Iterator[Answer]:
    """Names of one object."""
    by_address: dict[int, list[str]] = {}
    for side in sides:
        by_address.setdefault(side.address, []).append(side.name)
    for names in by_address.values():
        if len(names) > 1:
            said = f"{listed(names)} are names of one object."
            yield Answer("same-object", said, True, tuple(names), ("comparison.sides.address",), "", 0)


def _sharing(sides: tuple[Side, ...], pairs: tuple[Pair, ...]) -> Iterator[Answer]:
    """Objects that are joined by pairs with common bytes."""
    group = {side.name: n for n, side in enumerate(sides)}
    for pair in pairs:
        if pair.sharing.overlap is True:
            one, other = group[pair.left], group[pair.right]
            group = {name: one if number == other else number for name, number in group.items()}
    members: dict[int, list[str]] = {}
    for side in sides:
        members.setdefault(group[side.name], []).append(side.name)
    for names in members.values():
        if len(names) > 1:
            inside = [pair for pair in pairs if pair.left in names and pair.right in names]
            each = all(pair.sharing.overlap is True for pair in inside)
            all_of = "All" if each and len(names) == len(sides) and len(names) > 2 else ""
            said = f"{all_of} {len(names)} share memory with each other." if all_of else ""
            through = "" if each else ", not each with each"
            text = said or f"{listed(names)} share memory{through}."
            yield Answer("shared-bytes", text, True, tuple(names), ("comparison.pairs",), "", 0)


def _alone(sides: tuple[Side, ...], pairs: tuple[Pair, ...]) -> Iterator[Answer]:
    """Objects of which every pair is proved to have no byte in common; then those that are not known."""
    none, open_ = [], []
    for side in sides:
        overlaps = [pair.sharing.overlap for pair in pairs if side.name in (pair.left, pair.right)]
        if all(overlap is False for overlap in overlaps):
            none.append(side.name)
        elif all(isinstance(overlap, Unknown) for overlap in overlaps):
            open_.append(side.name)
    if none:
        said = "No two of them share a byte." if len(none) == len(sides) else ""
        text = said or f"{listed(none)} {'shares' if len(none) == 1 else 'share'} no byte with any of them."
        yield Answer("nothing-shared", text, True, tuple(none), ("comparison.pairs",), "", 0, EVERY_BYTE)
    if open_ and not none:
        verb = "shares" if len(open_) == 1 else "share"
        said = f"Whether {listed(open_)} {verb} with any of them is not known."
        yield Answer("not-known", said, False, tuple(open_), ("comparison.pairs",), "", 0)
