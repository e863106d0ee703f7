"""The attributes that an object keeps, by name, read where they lie: no code of its class runs."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from functools import partial
from itertools import islice
from types import FunctionType, MemberDescriptorType, MethodType, SimpleNamespace
from typing import Any, Final

from inspector import _native
from inspector.objects.classes import type_bases, type_namespace
from inspector.objects.referents import referents

MOST_SLOTS: Final = 1_000
_NAMESPACE: Final = vars(SimpleNamespace)["__dict__"].__get__


class Attribute(str):
    """A step by an attribute: "v" of `x.v`, "args[0]"."""


def attributes(x: Any) -> Iterator[tuple[Attribute, Any]]:
    """(name, value): of an instance its own dict's and its slots', of a partial what it was made with."""
    if type(x) is partial:
        yield from ((Attribute(f"args[{n}]"), one) for n, one in enumerate(x.args))
        yield from ((Attribute(f"keywords[{name!r}]"), one) for name, one in x.keywords.items())
    elif type(x) is FunctionType:
        yield from _of_function(x)
    elif type(x) is MethodType:
        yield from ((Attribute("__self__"), x.__self__), (Attribute("__func__"), x.__func__))
    elif type(x) is SimpleNamespace:
        yield from ((Attribute(name), one) for name, one in list(_NAMESPACE(x).items()))
    else:
        yield from _own(x)
        yield from islice(_slots(x), MOST_SLOTS)


def _own(x: Any) -> Iterator[tuple[Attribute, Any]]:
    found = _native.attributes_of(x)
    yield from ((Attribute(name), one) for name, one in zip(found[::2], found[1::2], strict=True))


def _of_function(x: FunctionType) -> Iterator[tuple[Attribute, Any]]:
    for n, cell in enumerate(x.__closure__ or ()):
        yield from ((Attribute(f"__closure__[{n}].cell_contents"), one) for one in referents((cell,)))
    yield from ((Attribute(f"__defaults__[{n}]"), one) for n, one in enumerate(x.__defaults__ or ()))
    given = list((x.__kwdefaults__ or {}).items())
    yield from ((Attribute(f"__kwdefaults__[{name!r}]"), one) for name, one in given)
    yield from _own(x)


def _slots(x: Any) -> Iterator[tuple[Attribute, Any]]:
    for base in type_bases(type(x)):
        for name, slot in type_namespace(base).items():
            if type(slot) is MemberDescriptorType and type(name) is str:
                try:
                    yield Attribute(name), slot.__get__(x)
                except AttributeError:
                    continue  # not set
