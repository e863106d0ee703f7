"""`dataclass(frozen=True, slots=True)`, whose class is made in a fifth of the time.

The standard one writes and compiles six functions for each class: most of what making a class costs, and
forty are made before a first card is drawn. Here one `__init__` is compiled, and all classes share one each
of the others, with the same meaning. To a type checker it is the standard one. Facts inherit from nothing and
make no default of their own (`default_factory`, `__post_init__`).
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool, slots: bool) -> Any:
        """Class decorator; what the class has of its own stays."""
        if not (frozen and slots):
            return dataclasses.dataclass(frozen=frozen, slots=slots)

        def make(kind: type) -> type:
            own = vars(kind)
            kind.__doc__ = kind.__doc__ or kind.__name__  # else the standard one asks for a signature: 4 ms
            made = dataclasses.dataclass(init=False, eq=False, repr=False, slots=True)(kind)
            made.__dataclass_params__.frozen = True
            for name, shared in {**_SHARED, "__init__": _initializer(made)}.items():
                if name not in own:
                    setattr(made, name, shared)
            return made

        return make


def _initializer(kind: Any) -> Any:
    """`__init__` with the fields as parameters, their defaults and annotations."""
    fields = kind.__dataclass_fields__.values()
    names = ", ".join(one.name for one in fields)
    lines = [f" _{one.name}(self, {one.name})" for one in fields]
    space: dict[str, Any] = {f"_{one.name}": vars(kind)[one.name].__set__ for one in fields}  # of the slot
    exec("\n".join([f"def __init__(self, {names}):", *lines, " pass"]), space)
    made = space["__init__"]
    made.__defaults__ = tuple(one.default for one in fields if one.default is not dataclasses.MISSING)
    made.__qualname__, made.__module__ = f"{kind.__qualname__}.__init__", kind.__module__
    made.__annotations__ = {**{one.name: one.type for one in fields}, "return": None}
    return made


def _values(one: Any) -> tuple[Any, ...]:
    return tuple(getattr(one, name) for name in one.__match_args__)


def _equal(self: Any, other: object) -> Any:
    if self is other:
        return True
    return _values(self) == _values(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))


def _repr(self: Any) -> str:
    said = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
    return f"{type(self).__qualname__}({said})"


def _refuse_setting(self: Any, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deleting(self: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _set_state(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__match_args__, state, strict=True):
        object.__setattr__(self, name, value)


def _get_state(self: Any) -> list[Any]:
    return list(_values(self))


_SHARED = {
    "__eq__": _equal,
    "__hash__": _hash,
    "__repr__": _repr,
    "__setattr__": _refuse_setting,
    "__delattr__": _refuse_deleting,
    "__getstate__": _get_state,
    "__setstate__": _set_state,
}
