"""What an object keeps directly, each with the place where it lies. Runs no user code."""

# SPDX-License-Identifier: MIT
import collections
import functools
import re
import sys
import types
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from inspector import _native
from inspector.adapters.futures_pending import FuturesPending, has_ended, outcome
from inspector.adapters.iterators import ITERATORS
from inspector.adapters.registry import adapter_of
from inspector.objects.classes import HAVE_GC, full_name, is_heap_type, type_bases, type_flags
from inspector.objects.layers.plain import INSTANCES, plain
from inspector.objects.reach.attributes import (
    READS_ATTRIBUTES,
    Attribute,
    attributes,
    is_open,
    is_whole,
    kept,
)
from inspector.objects.reach.globals import has_own_names, own_names
from inspector.objects.reach.tracebacks import variables
from inspector.objects.referents import is_full, referents

MOST_PAIRS: Final = 1_000
"""Objects that are weighed one by one; the others are counted together."""
MOST_COPIED: Final = 200_000
"""Of a longer list no item is weighed alone: only a copy of it is safe to walk."""
SIZED: Final = (list, tuple, dict, set, frozenset, collections.deque)
_WRAPPERS: Final = (
    *(types.CellType, types.MappingProxyType, property, staticmethod, classmethod, super, re.Match),
)
"""Types of Python whose `tp_traverse` visits all that their objects keep."""
_CONTAINERS: Final = (
    *SIZED,
    functools.partial,
    types.FunctionType,
    types.MethodType,
    types.SimpleNamespace,
    *_WRAPPERS,
)
_PAUSED: Final = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
_KEEPERS: Final = (*_PAUSED, types.FrameType, type(functools.lru_cache(abs)), *ITERATORS)
"""Types with an adapter of the language, which tells their state and not what they hold."""
_OF_OBJECTS: Final = ("scipy.sparse._dok.dok_matrix", "scipy.sparse._dok.dok_array")
"""Types with an adapter whose elements are Python objects, in a dict."""
_HAVE_VECTORCALL: Final = 1 << 11
_METHOD_DESCRIPTOR: Final = 1 << 17
_ARGS: Final = vars(BaseException)["args"]


class Place(str):
    """Where an object that is no plain container keeps another, as one would name it: ".args[0]", "n"."""


def pairs(x: Any) -> Iterator[tuple[Any, Any]]:
    """(key or index, item) of an exact dict, list or tuple without empty slots; what a callable keeps."""
    if type(x) is dict:
        yield from list(islice(x.items(), MOST_PAIRS))
    elif type(x) is list or type(x) is tuple:
        if len(x) > MOST_COPIED:
            return
        yield from enumerate(x[:MOST_PAIRS]) if is_full(x) else ()  # a copy of empty slots is a crash, too
    elif type(x) is types.MethodType:
        yield Place(".__self__"), x.__self__
    elif is_exception(type(x)):
        yield from ((Place(f"{name} of {function}"), one) for name, function, one in variables(x))
        yield from ((Place(f".args[{n}]"), one) for n, one in enumerate(_ARGS.__get__(x)[:MOST_PAIRS]))
        yield from ((Place(f".{name}"), one) for name, one in islice(attributes(x), MOST_PAIRS))
    elif is_finished(x):
        name, one = outcome(x)
        yield Place(f".{name}"), one
    elif type(x) is types.FunctionType:
        for name, cell in zip(x.__code__.co_freevars, x.__closure__ or (), strict=False):
            yield from ((Place(name), one) for one in referents((cell,)))
        yield from ((Place(f"{name}="), one) for name, one in _defaults(x) if _is_sized(one))
    elif any(type(x) is one for one in (*_WRAPPERS, *ITERATORS)):
        yield from ((Place(), one) for one in referents((x,)))
    elif has_own_names(x):
        yield from ((Place(f".{name}"), one) for name, one in islice(own_names(x), MOST_PAIRS))
    elif type(x) is types.FrameType:
        yield from ((Place(name), one) for name, one in islice(_native.frame_locals(x), MOST_PAIRS))
    elif is_open(type(x)) or any(type(x) is one for one in (functools.partial, types.SimpleNamespace)):
        rows = islice(kept(x, MOST_PAIRS) if is_whole(x) else (), MOST_PAIRS)
        yield from ((Place(f".{key}") if type(key) is Attribute else key, one) for key, one in rows)
    elif is_of_c(type(x)):
        named = list(islice(attributes(x), MOST_PAIRS))
        yield from ((Place(f".{name}"), one) for name, one in named)
        known = {id(one) for _, one in named}
        yield from ((Place(), one) for one in _visited(x) if id(one) not in known)


def _visited(x: Any) -> list[Any]:
    """What `tp_traverse` visits, but the class and the dict that only keeps the attributes."""
    return [one for one in referents((x,))[:MOST_PAIRS] if one is not type(x) and type(one) is not dict]


def _defaults(x: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """The arguments of a function with a default value, and these."""
    given = x.__defaults__ or ()
    code = x.__code__
    yield from zip(code.co_varnames[code.co_argcount - len(given) : code.co_argcount], given, strict=True)
    yield from list((x.__kwdefaults__ or {}).items())


def _is_sized(x: Any) -> bool:
    return any(type(x) is one for one in (list, dict, set))


def is_exception(kind: type) -> bool:
    """Whether it is a class of exceptions."""
    return any(base is BaseException for base in type_bases(kind))


def is_finished(x: Any) -> bool:
    """Whether it is a future that has its result, or its exception."""
    return isinstance(adapter_of(type(x)), FuturesPending) and has_ended(x)


def is_container(kind: type) -> bool:
    """Whether it is a container of Python's, a function, or an instance of a class statement."""
    if any(kind is one for one in _KEEPERS) or full_name(kind) in _OF_OBJECTS:
        return True
    if adapter_of(kind) is not None:
        return False
    if any(base is one for base in type_bases(kind) for one in _CONTAINERS):
        return True
    return kind is not object and (plain(kind) is INSTANCES or is_of_c(kind))


def is_of_c(kind: type) -> bool:
    """Whether it is a type of C, or a class over one, that no adapter knows and whose `tp_traverse` tells."""
    if not READS_ATTRIBUTES or not type_flags(kind) & HAVE_GC or adapter_of(kind) is not None:
        return False
    name = full_name(kind)
    if any(base is one for base in type_bases(kind) for one in (type, types.ModuleType, *_CONTAINERS)):
        return False
    is_pythons = "." not in name and not is_heap_type(kind)
    return plain(kind) is None and not is_pythons and not _is_of_functions(kind)


def _is_of_functions(kind: type) -> bool:
    """Whether its objects are functions of C: Cython's, nanobind's, ufuncs. They refer to their modules."""
    flags, top = type_flags(kind), full_name(kind).partition(".")[0]
    is_called = flags & _HAVE_VECTORCALL and top not in sys.stdlib_module_names
    return bool(flags & _METHOD_DESCRIPTOR or is_called)
