"""What works on this machine: one check per line, and how to fix what does not."""

# SPDX-License-Identifier: MIT
from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "part", "no"]


@dataclass(frozen=True, slots=True)
class Check:
    """One ability; the check tries it."""

    part: str
    """"extension", "gdb", "attach", "writes", "residency", "symbols", "libraries"."""
    state: State
    says: str
    """What was found, in a few words."""
    do: str
    """How to fix it; "" if nothing needs fixing."""


@dataclass(frozen=True, slots=True)
class Machine:
    """All checks of `inspector doctor`, in display order."""

    checks: tuple[Check, ...]
