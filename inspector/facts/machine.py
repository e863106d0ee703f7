"""What works on this machine: one check a line, and how to mend what does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "part", "no"]


@dataclass(frozen=True, slots=True)
class Check:
    """One ability, tried rather than looked up."""

    part: str
    """"extension", "gdb", "attach", "writes", "residency", "symbols", "libraries"."""
    state: State
    says: str
    """What was found, in a few words."""
    do: str
    """How to mend it; "" where there is nothing to mend."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What works on this machine: the checks of `inspector doctor`, in their order."""

    checks: tuple[Check, ...]
