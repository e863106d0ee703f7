"""What containers and instances of Python's classes keep, by key or name, read where it lies.

No code of a class runs: the items of a subclass of dict or list are those that C code keeps for it.
"""

# SPDX-License-Identifier: MIT
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator
from functools import partial
from itertools import islice
from types import FunctionType, MemberDescriptorType, MethodType, SimpleNamespace
from typing import Any, Final

from inspector import _native
from inspector.adapters.registry import adapter_of
from inspector.objects.classes import type_bases, type_namespace
from inspector.objects.layers.plain import is_python
from inspector.objects.referents import is_full, referents

STORES: Final = (dict, list, tuple, deque)
MOST_SLOTS: Final = 1_000
READS_ATTRIBUTES: Final = "attributes_of" in vars(_native)
"""A free-threaded CPython has no way to read all attributes of an instance without running code."""
_WORD: Final = 8
_ITEMS: Final = object.__basicsize__ + _WORD
"""Offset of `ob_item` in a list (Include/cpython/listobject.h)."""
_NAMESPACE: Final = vars(SimpleNamespace)["__dict__"].__get__


class Attribute(str):
    """A step by an attribute: "v" of `x.v`, "args[0]"."""


def is_open(kind: type) -> bool:
    """Whether `kept` tells all that its objects keep: containers of Python, instances of class statements."""
    if not READS_ATTRIBUTES:
        return any(kind is one for one in STORES)
    is_known = kind is object or adapter_of(kind) is not None
    return not is_known and is_python(kind, *STORES, OrderedDict, defaultdict)


def kept(x: Any, most: int) -> Iterator[tuple[Any, Any]]:
    """(key or index, item), then (Attribute, value): the first `most` items of what `is_whole`."""
    store: Any = _store(x)
    if store is dict:
        yield from list(islice(dict.items(x), most))
    elif store is not None:
        yield from enumerate(islice(store.__iter__(x), most))
    if not any(type(x) is one for one in STORES):
        yield from attributes(x)


def is_whole(x: Any) -> bool:
    """As `is_full`, of subclasses too; True for what is no list or tuple."""
    store = _store(x)
    if store is not list and store is not tuple:
        return True
    if type(x) is store or not READS_ATTRIBUTES:
        return is_full(x)
    at = id(x) + tuple.__basicsize__
    if store is list:
        at = int.from_bytes(_native.read(id(x) + _ITEMS, _WORD) or b"", "little")
    words = _native.read(at, store.__len__(x) * _WORD)
    return words is not None and 0 not in memoryview(words).cast("Q")


def _store(x: Any) -> type | None:
    return next((base for base in type_bases(type(x)) if any(base is one for one in STORES)), None)


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
