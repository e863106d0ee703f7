"""The shortest path from a root (module, frame, IPython namespace) to an object."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from dataclasses import dataclass

from inspector.facts.refs import Owner

_IN_LINE = 6
"""How many owners the repr names at most."""


@dataclass(frozen=True, slots=True)
class Chain:
    """Owners from the root to the object; each holds the next."""

    found: bool
    owners: tuple[Owner, ...]
    searched: str
    """What was searched; if nothing was found, also why the search ended."""

    def __len__(self) -> int:
        return len(self.owners)

    def __repr__(self) -> str:
        steps = [owner.short for owner in self.owners]
        if len(steps) > _IN_LINE:
            steps[_IN_LINE // 2 : -_IN_LINE // 2] = [f"… {len(steps) - _IN_LINE} more …"]
        return f"<Chain: {' → '.join(steps) if self.found else '? ' + self.searched}>"

    def __iter__(self) -> Iterator[Owner]:
        """The owners, the root first."""
        return iter(self.owners)
