"""Compares two sets of facts, field by field."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass, replace
from typing import Any, cast

from inspector.facts.amounts import counted
from inspector.facts.answers import Answer
from inspector.facts.comparison import Change, Comparison
from inspector.facts.sharing import Sharing
from inspector.facts.unknown import Address, Unknown
from inspector.facts.wire import field_types
from inspector.verdicts.pairs.answers import answers
from inspector.verdicts.pairs.groups import groups

TEXT_CHARACTERS = 60
UNTOLD = frozenset(
    ("header", "owners.references", "owners.searchable_bytes", "owners.estimated_ns", "owners.scan")
)
"""Fields not compared: inspecting changes them, or another field says the same. Nor are addresses."""

SAVED = Unknown("two saved reports: addresses of different processes cannot be compared")


def compared(
    left: str, left_facts: Mapping[str, Any], right: str, right_facts: Mapping[str, Any]
) -> Comparison:
    """The fields in which two saved reports differ; columns in the order of `left`."""
    changes = tuple(_changes(left_facts, right_facts))
    return Comparison(left, right, SAVED, changes, Sharing(SAVED, SAVED, ()))


def live(
    names: Sequence[str], facts: Sequence[Mapping[str, Any]], together: Mapping[str, Any] | Unknown
) -> Comparison:
    """Two live objects or more, with the answers. `together`: what the probe of all of them found.

    Values that read alike are left out of the changes: "5 rows" on both sides says nothing.
    """
    more = {} if isinstance(together, Unknown) else together
    if len(names) > 2:
        why = Unknown("more than two objects: `pairs` says who shares")
        found = Comparison(names[0], "", why, (), Sharing(why, why, ()), values=why)
        found = replace(found, **more)
        return replace(found, answers=groups(found.sides, found.pairs))
    changes = tuple(change for change in _changes(*facts) if change.left != change.right)
    why = together if isinstance(together, Unknown) else SAVED
    found = Comparison(names[0], names[1], why, changes, Sharing(why, why, ()))
    found = replace(found, **more)
    if isinstance(together, Unknown):
        said = f"What they share is not known: {together.reason}."
        return replace(found, answers=(Answer("sharing-unknown", said, False, tuple(names), (), "", 0),))
    return replace(found, answers=answers(found))


def _changes(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Change]:
    for column in [*left, *(column for column in right if column not in left)]:
        yield from _differences(column, "", left.get(column), right.get(column))


def _differences(column: str, field: str, left: Any, right: Any) -> Iterator[Change]:
    """Compare facts of one class field by field and named values one by one; anything else as text."""
    if left == right:
        return
    if is_dataclass(left) and type(left) is type(right) and not isinstance(left, Unknown):
        for name, hint in field_types(cast(type, type(left))).items():
            path = f"{field}.{name}" if field else name
            if hint is not Address and path not in UNTOLD:
                yield from _differences(column, path, getattr(left, name), getattr(right, name))
    elif (first := _named(left)) is not None and (second := _named(right)) is not None:
        for name in [*first, *(name for name in second if name not in first)]:
            yield from _differences(column, name, first.get(name), second.get(name))
    else:
        yield Change(column, field, _shown(left), _shown(right))


def _named(value: Any) -> dict[str, str] | None:
    """A tuple of (name, value) pairs as a dict; None for anything else."""
    if not isinstance(value, tuple) or not value or not all(_is_pair(item) for item in value):
        return None
    return dict(value)


def _is_pair(item: Any) -> bool:
    return isinstance(item, tuple) and [type(part) for part in item] == [str, str]


def _shown(value: Any) -> str:
    """A value as text: a tuple of facts as its length, everything else as it is."""
    if value is None:
        return "-"
    if isinstance(value, tuple) and any(is_dataclass(item) for item in value):
        return counted(len(value), "row")
    text = (
        " · ".join(value)
        if isinstance(value, tuple) and value and all(isinstance(item, str) for item in value)
        else str(value)
    )
    return text if len(text) <= TEXT_CHARACTERS else text[: TEXT_CHARACTERS - 1] + "…"
