"""Watched names: their state after a cell, and what changed since the previous cell."""

# SPDX-License-Identifier: MIT
from dataclasses import dataclass

from inspector.facts.namespace import Row
from inspector.facts.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Watched:
    """One name and its current state."""

    name: str
    row: Row | Unknown
    """Unknown if the name is not bound."""
    changes: tuple[tuple[str, str], ...]
    """(field, old value) of each change: "object", "type", "bytes", "refs", "state", "here"."""


@dataclass(frozen=True, slots=True)
class Watch:
    """The watched names after a cell: references, bytes, state, what changed."""

    names: tuple[Watched, ...]
