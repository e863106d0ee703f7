"""`Nothing(covered, not_covered)`: a claim that there is none, with what was looked at. Never a bare zero."""

# SPDX-License-Identifier: MIT
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Nothing:
    """None was found in `covered`, all of which was looked at."""

    covered: str
    """What was looked at, whole: "all elements of both", "12 calls of numpy"."""
    not_covered: str
    """What could hold some and was not looked at; "" where there is nothing else: the scope is closed."""

    @property
    def is_closed(self) -> bool:
        """Whether everything that could hold some was looked at."""
        return not self.not_covered

    def __str__(self) -> str:
        return self.covered if self.is_closed else f"{self.covered}; not looked at: {self.not_covered}"
