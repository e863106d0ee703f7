"""What decides how a library converts an object: its kind, and the layout of its elements."""

# SPDX-License-Identifier: MIT
from inspector.facts.record import dataclass


@dataclass(frozen=True, slots=True)
class Given:
    """The properties of an object that conversion rules test (inspector/verdicts/rules.py)."""

    kind: str
    """"ndarray", "list", "Tensor" ..., else the type's name."""
    is_table: bool
    typestr: str
    """Format of its elements, "<f8" or a letter of the struct module; "" if they are not one block."""
    dimensions: int
    contiguous: bool
    backwards: bool
    """Whether a stride is negative."""
    read_only: bool
    blocks: int
    size_bytes: int
