"""A container as a drawing of boxes and arrows: who refers to whom, two levels deep."""

# SPDX-License-Identifier: MIT
from inspector.facts.record import dataclass
from inspector.facts.unknown import Address


@dataclass(frozen=True, slots=True)
class ContentSlot:
    """One place of a box."""

    key: str
    """"[0]", "['k']"."""
    text: str
    """The value of a small constant, drawn in the slot; "" where an arrow leaves it."""
    box: int
    """The number of the box that the arrow leads to; -1 if there is none."""


@dataclass(frozen=True, slots=True)
class ContentBox:
    """One object, drawn once however many arrows lead to it."""

    what: str
    """"list (3 items)", "ndarray float64 (1000,)"."""
    address: Address
    slots: tuple[ContentSlot, ...]
    left_out: int
    """Places that are not drawn."""
    name: str = ""
    """The user's name for it; "" if there is none."""
