"""The user's names put into facts: the owner of a view's bytes is `big`, not an ndarray."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inspector.facts.unknown import Unknown

if TYPE_CHECKING:
    from inspector.facts.buffer import Buffer


def named(facts: Mapping[str, Any], known: Mapping[int, str]) -> dict[str, Any]:
    """The facts with the holders of bytes called as in `known`: address of an object -> its name."""
    buffer: Buffer | Unknown | None = facts.get("buffer")
    if buffer is None or isinstance(buffer, Unknown):
        return dict(facts)
    holders = tuple(replace(one, name=known.get(one.address, one.name)) for one in buffer.holders)
    return {**facts, "buffer": replace(buffer, holders=holders)}
