"""Objects that need no adapter: builtin values and containers, values of libraries, instances of classes.

An instance keeps its attributes as inline values until code reads its `__dict__`; reading creates the dict,
which takes memory and stays. So the dict is read from the words before the object, and accepted only if there
is a dict at that address.
"""

# SPDX-License-Identifier: MIT
import functools
import gc
import types
from typing import Any

from inspector import _native
from inspector.adapters.base import Adapter, type_module, type_name
from inspector.adapters.told import Layer, Told, attribute, field, of_type
from inspector.facts.unknown import Unknown
from inspector.objects.classes import is_heap_type, type_bases, type_namespace
from inspector.objects.layers import text_caches
from inspector.objects.layers.values import is_value

WORD = 8
_VALUES = (int, float, complex, bool, str, type(None), type(...), type(NotImplemented), slice)
_CONTAINERS = (list, tuple, dict, set, frozenset)
_CODE = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.CodeType,
    types.FrameType,
    object,
)
_BUILTIN = {id(kind): kind in _CONTAINERS for kind in (*_VALUES, *_CONTAINERS, *_CODE)}
"""id of a type -> whether its items are outside the object's struct. By id: runs no metaclass's hash."""
_FLAGS = type.__dict__["__flags__"].__get__
_MANAGED_DICT = 1 << 4
MOST_CLASSES = 32


class Plain(Adapter):
    """Builtin values, containers and code: computed, and their own."""

    def layers(self, x: Any) -> Told:
        """One layer; a container's items are in the heap."""
        name = type_name(type(x))
        storage: Any = "heap" if _BUILTIN.get(id(type(x))) else "inline"
        evidence = (of_type(name), *(text_caches.evidence(x) if type(x) is str else ()))
        return Told((Layer("wrapper", name, "computed", storage, "owned", evidence),))


class Instances(Adapter):
    """Instances of classes: the storage of their attributes; their meaning to the class is unknown."""

    def layers(self, x: Any) -> Told:
        """The instance, its dict, its cached properties."""
        name = type_name(type(x))
        why = Unknown(f"opaque: no adapter knows {name}")
        wrapper = Layer("wrapper", name, why, "heap", "owned", (of_type(name),))
        return Told((wrapper, *_dict_layers(x)), state=why)


def plain(kind: type) -> Plain | Instances | None:
    """The adapter for a type that no library's adapter knows; None for an opaque C type."""
    if id(kind) in _BUILTIN or is_value(kind):
        return PLAIN
    return INSTANCES if is_heap_type(kind) and is_python(kind) else None


def is_python(kind: type, *known: type) -> bool:
    """Whether all bases of `kind` but values of Python, and `known`, are class statements: then no C struct
    hides bytes."""
    known = (object, *_VALUES, *known)
    above = [base for base in type_bases(kind)[:MOST_CLASSES] if not any(base is one for one in known)]
    rows = (_native.type_layout(_native.Subject(base)) for base in above)
    return all(row is not None and not row["origin"] for row in rows)


def _dict_layers(x: Any) -> tuple[Layer, ...]:
    kind = type(x)
    if not _FLAGS(kind) & _MANAGED_DICT:
        return ()
    if not knows_instance_dicts():
        why = Unknown("this interpreter keeps the dicts of instances elsewhere")
        return (Layer("container", "__dict__", why, why, why, depth=1),)
    made = instance_dict(x)
    there = made is not None
    layer = Layer(
        "container",
        "__dict__" if there else "attributes without a dict",
        "computed" if there else "lazy",
        "heap",
        "owned",
        (field("word before the object", "a dict" if there else "no dict"),),
        () if there else ("x.__dict__", "vars()", "dir()"),
        () if there else ("x.attribute", "repr"),
        depth=1,
    )
    return (layer, *_cached(kind, made or {}))


class _Probe:
    """An instance whose dict is not created until it is read."""


@functools.cache
def knows_instance_dicts() -> bool:
    """The self test: finds no dict before `vars()` creates one, and then that one."""
    x = _Probe()
    x.a = 1  # type: ignore[attr-defined]
    before = instance_dict(x)
    made = vars(x)
    return before is None and instance_dict(x) is made


def instance_dict(x: Any) -> dict[str, Any] | None:
    """The dict of an instance with a managed one (PEP 412; 3.11 to 3.14); None if not created yet."""
    raw = _native.read(id(x) - 3 * WORD, WORD)
    word = int.from_bytes(raw or b"", "little")
    if not word or word & 1:
        return None
    found = next((held for held in gc.get_referents(x) if id(held) == word and type(held) is dict), None)
    return found if found is not None else _dict_at(word)


def _dict_at(word: int) -> dict[str, Any] | None:
    """The dict at an address, if the memory there begins like one: 3.13's gc visits only inline values."""
    if _native.read(word + WORD, WORD) != id(dict).to_bytes(WORD, "little"):
        return None
    import ctypes

    made: dict[str, Any] = ctypes.cast(word, ctypes.py_object).value
    return made


def _cached(kind: type, attributes: dict[str, Any]) -> tuple[Layer, ...]:
    """A layer for the cached properties of the class: those computed so far."""
    names = list(_cached_properties(kind))
    if not names:
        return ()
    done = [name for name in names if name in attributes]
    value: Any = "computed" if len(done) == len(names) else "partial" if done else "lazy"
    waiting = tuple(f"x.{name}" for name in names if name not in done)
    seen = tuple(attribute(f"x.__dict__[{name!r}]", "there" if name in done else "absent") for name in names)
    what = f"cached properties, {len(done)} of {len(names)}"
    return (Layer("container", what, value, "heap", "owned", seen, waiting, depth=1),)


def _cached_properties(kind: type) -> list[str]:
    from functools import cached_property

    found = []
    for base in type_bases(kind)[:MOST_CLASSES]:
        if type_module(base) != "builtins":
            namespace = type_namespace(base)
            found += [name for name, value in namespace.items() if type(value) is cached_property]
    return found


PLAIN, INSTANCES = Plain(), Instances()
