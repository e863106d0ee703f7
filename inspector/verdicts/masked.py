"""The facts of an object with a secret name, without its value: nor where it is a key of what holds it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from inspector.facts.chain import Chain
from inspector.facts.refs import Owner, Refs
from inspector.facts.secret import MASKED
from inspector.facts.unknown import Unknown


def masked(facts: dict[str, Any]) -> dict[str, Any]:
    """Each column as it may be shown."""
    value = getattr(facts.get("object"), "preview", "")
    return {
        column: _column(column, fact, value if type(value) is str else "") for column, fact in facts.items()
    }


def _column(column: str, fact: Any, value: str) -> Any:
    if isinstance(fact, Unknown):
        return fact
    if column in ("object", "layout"):
        return replace(fact, preview=MASKED if column == "object" else (MASKED,))
    if isinstance(fact, Refs):
        return replace(fact, owners=_owners(fact.owners, value))
    return _owners(fact, value) if isinstance(fact, Chain) else fact


def _owners(fact: Any, value: str) -> Any:
    return replace(fact, owners=tuple(_owner(one, value) for one in fact.owners))


def _owner(one: Owner, value: str) -> Owner:
    """A number is looked for as the whole key: its digits stand in other words too."""
    if not value:
        return one
    if value[:1] not in "'\"b":
        return replace(one, key=f"key {MASKED}") if one.key == f"key {value}" else one
    return replace(one, key=one.key.replace(value, MASKED), holder=one.holder.replace(value, MASKED))
