"""A namespace by address: its names, drawn at the ranges they cover."""

# SPDX-License-Identifier: MIT
from inspector.facts.namespace import Namespace
from inspector.facts.record import dataclass


@dataclass(frozen=True, slots=True)
class MemoryMap:
    """Names on the address ranges that their bytes cover."""

    names: Namespace
