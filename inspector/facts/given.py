"""What of an object decides how a library takes it: its kind, and the layout of its elements."""

from __future__ import annotations

from inspector.facts.record import dataclass


@dataclass(frozen=True, slots=True)
class Given:
    """An object as a rule sees it."""

    kind: str
    """ "ndarray", "list", "Tensor" ..., else the type's name."""
    is_table: bool
    typestr: str
    """Of its elements, "<f8" or a letter of struct; "" where they are not one block."""
    dimensions: int
    contiguous: bool
    backwards: bool
    """A stride is negative."""
    read_only: bool
    blocks: int
    size_bytes: int
