"""`dataclass(frozen=True, slots=True)`, whose class is made in half the time.

The standard one writes and compiles `__eq__`, `__hash__` and `__repr__` for each class: half of what making
a class costs, and forty are made before a first card is drawn. Here all share one of each, with the same
meaning. To a type checker it is the standard one.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool, slots: bool) -> Any:
        """Class decorator; a `__repr__` that the class has of its own stays."""

        def make(kind: type) -> type:
            own = vars(kind)
            made = dataclasses.dataclass(frozen=frozen, slots=slots, eq=False, repr=False)(kind)
            for name, shared in (("__eq__", _equal), ("__hash__", _hash), ("__repr__", _repr)):
                if name not in own:
                    setattr(made, name, shared)
            return made

        return make


def _values(one: Any) -> tuple[Any, ...]:
    return tuple(getattr(one, name) for name in one.__match_args__)


def _equal(self: Any, other: object) -> Any:
    return _values(self) == _values(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))


def _repr(self: Any) -> str:
    said = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
    return f"{type(self).__qualname__}({said})"
