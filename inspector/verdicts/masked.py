"""Masks the value of an object with a secret name in its facts, also where an owner uses it as a key."""

# SPDX-License-Identifier: MIT
from dataclasses import replace
from typing import Any

from inspector.facts.chain import Chain
from inspector.facts.contents import Contents
from inspector.facts.refs import Owner, Refs
from inspector.facts.secret import MASKED
from inspector.facts.unknown import Unknown


def masked(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts with the value masked in every column."""
    value = getattr(facts.get("object"), "preview", "")
    return {
        column: _column(column, fact, value if type(value) is str else "") for column, fact in facts.items()
    }


def _column(column: str, fact: Any, value: str) -> Any:
    if isinstance(fact, Unknown):
        return fact
    if column in ("object", "layout"):
        return replace(fact, preview=MASKED if column == "object" else (MASKED,))
    if isinstance(fact, Contents):
        return replace(fact, boxes=())
    if isinstance(fact, Refs):
        return replace(fact, owners=_owners(fact.owners, value))
    return _owners(fact, value) if isinstance(fact, Chain) else fact


def _owners(fact: Any, value: str) -> Any:
    return replace(fact, owners=tuple(_owner(owner, value) for owner in fact.owners))


def _owner(owner: Owner, value: str) -> Owner:
    """Mask the value in an owner's words. A number must be the whole key: its digits occur in other words."""
    if not value:
        return owner
    if value[:1] not in "'\"b":
        return replace(owner, key=f"key {MASKED}") if owner.key == f"key {value}" else owner
    told = replace(owner, key=owner.key.replace(value, MASKED), holder=owner.holder.replace(value, MASKED))
    begins = value.strip("b'\"")[:4]
    return replace(told, path="", do="") if begins and begins in owner.path + owner.do else told
