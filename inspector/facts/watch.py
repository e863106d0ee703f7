"""Names that are watched: each one's state after a cell, and what changed since the one before."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.facts.namespace import Row
from inspector.facts.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Watched:
    """One name now."""

    name: str
    row: Row | Unknown
    """Unknown where the name is not bound."""
    changes: tuple[tuple[str, str], ...]
    """(field, what it was) of what is different now: "object", "type", "bytes", "refs", "state", "here"."""


@dataclass(frozen=True, slots=True)
class Watch:
    """The watched names after a cell: references, bytes, state, what changed."""

    names: tuple[Watched, ...]
