"""What a container holds: its objects and their bytes, by a bounded look inside."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from inspector.facts.record import dataclass


@dataclass(frozen=True, slots=True)
class Contents:
    """The objects that a container reaches, each counted once, without the container itself.

    Modules, classes, functions and immortal objects are not counted: they belong to others too.
    """

    objects: int
    bytes: int
    """Their own bytes, with those of arrays."""
    arrays: int
    """How many of them expose bytes: arrays, tables, tensors."""
    arrays_bytes: int
    complete: bool
    """Whether all objects were counted; False if the look ended at its bound."""

    def __repr__(self) -> str:
        least = "" if self.complete else "at least "
        return f"<Contents: {least}{self.objects:,} objects, {self.bytes:,} bytes>"
