"""The shortest path from a root (module, frame, IPython namespace) to an object."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from inspector.facts.refs import Owner


@dataclass(frozen=True, slots=True)
class Chain:
    """Owners from the root to the object: each holds the next."""

    found: bool
    owners: tuple[Owner, ...]
    searched: str
    """What was searched and, where nothing was found, why the search ended."""

    def __len__(self) -> int:
        return len(self.owners)

    def __iter__(self) -> Iterator[Owner]:
        """Owners, the root first."""
        return iter(self.owners)
