"""What would happen if an object were passed to a library or an expression evaluated; nothing runs here."""

# SPDX-License-Identifier: MIT
from typing import Literal

from inspector.facts.conversion import Copy
from inspector.facts.record import dataclass
from inspector.facts.unknown import Unknown

Found = Literal["tried", "tried on a part", "by rule", "not found"]
"""How it was found: in a forked child, on the whole object or on its beginning; by a rule; not at all."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What passing an object to one library would do."""

    consumer: str
    """The library's import name, or a type's."""
    function: str
    """The function that would be called."""
    copies: bool | Unknown
    """Whether the result would have its own bytes; unknown also if the conversion fails."""
    copied_bytes: int | Unknown
    loses: tuple[str, ...] | Unknown
    """The first elements that would change, "before → after"."""
    losses: int | Unknown
    """How many of the compared elements would change."""
    materializes: str
    """The object's new state; "" if its state would not change."""
    reason: str
    """Why it copies; if it fails, the error."""
    avoid: str
    fails: bool
    found: Found
    catalogue: str = ""
    """What the catalogue says of the same call, with its release; "" where it has no such row."""


@dataclass(frozen=True, slots=True)
class Previews:
    """What handing one object to several libraries would do."""

    rows: tuple[Preview, ...]


@dataclass(frozen=True, slots=True)
class Prediction:
    """What evaluating an expression would copy and materialize."""

    expression: str
    copies: tuple[Copy, ...] | Unknown
    """The copies, the largest first."""
    materializes: str
    """The new state of the inspected object; "" if its state would not change."""
    fails: str
    """The error it would raise; "" if none."""
    wall_ns: int | Unknown
    """Duration in the child process."""
