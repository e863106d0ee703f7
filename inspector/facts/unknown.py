"""`Unknown(reason)` for a value that could not be determined: never None, never a guess."""

# SPDX-License-Identifier: MIT
from typing import Final, NewType, NoReturn

from inspector.facts.record import dataclass

Address = NewType("Address", int)
"""A virtual address of this process; a hex string in JSON."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that could not be determined, and why."""

    reason: str

    def __bool__(self) -> NoReturn:
        """Raise TypeError: an unknown is neither true nor false."""
        raise TypeError(f"unknown is neither true nor false: {self.reason}")

    def __str__(self) -> str:
        return f"? {self.reason}"


class ImmortalType:
    """The type of `Immortal`: the refcount of an object that is never freed has no meaning (PEP 683)."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "Immortal"

    def __reduce__(self) -> str:
        return "Immortal"


Immortal: Final = ImmortalType()
