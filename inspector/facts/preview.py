"""What would happen: an object handed to a library, an expression evaluated; found without doing it here."""

from __future__ import annotations

from typing import Literal

from inspector.facts.conversion import Copy
from inspector.facts.record import dataclass
from inspector.facts.unknown import Unknown

Found = Literal["tried", "tried on a part", "by rule", "not found"]
"""The conversion ran in a forked child, on all of it or on its beginning; a rule was looked up; neither."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What handing an object over to one library would do."""

    consumer: str
    """The library's import name, or a type's."""
    function: str
    """What would be called."""
    copies: bool | Unknown
    """Whether the result would have bytes of its own. Unknown too where the conversion fails."""
    copied_bytes: int | Unknown
    loses: tuple[str, ...] | Unknown
    """Elements that would come out as something else, "before → after", the first ones."""
    losses: int | Unknown
    """How many, of the elements compared."""
    materializes: str
    """What the object's own state would become; "" where it stays as it is."""
    reason: str
    """Why it copies; the error where it fails."""
    avoid: str
    fails: bool
    found: Found


@dataclass(frozen=True, slots=True)
class Previews:
    """What handing one object to several libraries would do."""

    rows: tuple[Preview, ...]


@dataclass(frozen=True, slots=True)
class Prediction:
    """What evaluating an expression would copy and materialize."""

    expression: str
    copies: tuple[Copy, ...] | Unknown
    """Those that copy; the largest first."""
    materializes: str
    """What the state of the object that was asked about would become; "" where it stays."""
    fails: str
    """What it would raise; "" where it does not."""
    wall_ns: int | Unknown
    """In the child."""
