"""Two objects side by side: which fields differ, which bytes they share."""

# SPDX-License-Identifier: MIT
from dataclasses import dataclass

from inspector.facts.sharing import Sharing
from inspector.facts.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Change:
    """One field that differs, with both values as text."""

    column: str
    field: str
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """How the facts of two reports differ."""

    left: str
    right: str
    same_object: bool | Unknown
    """Unknown for two saved reports: addresses of different processes cannot be compared."""
    changes: tuple[Change, ...]
    sharing: Sharing

    def __repr__(self) -> str:
        fields = ", ".join(change.field for change in self.changes[:3]) or "none"
        return f"<Comparison of {self.left} and {self.right}: {len(self.changes)} fields differ: {fields}>"
