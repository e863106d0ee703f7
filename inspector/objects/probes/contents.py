"""What a container holds: a walk over the objects that it reaches. Runs no user code."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import collections
import functools
import re
import sys
import types
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from inspector import _native
from inspector.adapters.base import type_name
from inspector.adapters.futures_pending import FuturesPending, has_ended, outcome
from inspector.adapters.iterators import ITERATORS
from inspector.adapters.registry import adapter_of
from inspector.facts.amounts import counted
from inspector.facts.unknown import Address
from inspector.objects.classes import full_name, is_heap_type, type_bases
from inspector.objects.layers.plain import INSTANCES, plain
from inspector.objects.ownership.rows import key_text
from inspector.objects.reach.attributes import Attribute, attributes, is_open, is_whole, kept
from inspector.objects.reach.boxes import MOST_SLOTS, Words, boxes
from inspector.objects.reach.reached import (
    Walked,
    blocks_of,
    distinct,
    has_blocks,
    kept_behind,
    piece_of,
    walked,
)
from inspector.objects.reach.tracebacks import variables
from inspector.objects.referents import is_full, referents

if TYPE_CHECKING:  # imported for a container
    from inspector.facts.contents import Contents, Item

MOST_PAIRS: Final = 1_000
"""Items that are weighed one by one; the others are counted together."""
MOST_COPIED: Final = 200_000
"""Of a longer list no item is weighed alone: only a copy of it is safe to walk."""
MOST_ASKED: Final = 16
"""Arrays that are asked whether they keep more than their elements."""
MOST_NAMED: Final = 8
"""Items that the fact describes one by one."""
_SIZED: Final = (list, tuple, dict, set, frozenset, collections.deque)
_WRAPPERS: Final = (types.CellType, types.MappingProxyType, property, staticmethod, classmethod, re.Match)
"""Types of Python whose `tp_traverse` visits all that their objects keep."""
_CONTAINERS: Final = (
    *_SIZED,
    functools.partial,
    types.FunctionType,
    types.MethodType,
    types.SimpleNamespace,
    *_WRAPPERS,
)
_PAUSED: Final = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
_KEEPERS: Final = (*_PAUSED, type(functools.lru_cache(abs)), *ITERATORS)
"""Types with an adapter of the language, which tells their state and not what they hold."""
_OF_OBJECTS: Final = ("scipy.sparse._dok.dok_matrix", "scipy.sparse._dok.dok_array")
"""Types with an adapter whose elements are Python objects, in a dict."""
_KEYED: Final = (list, tuple, dict)
_PLAIN: Final = (int, float, complex, str, bytes, bytearray, bool, type(None), dict, list, tuple)
_BASE: Final = type.__dict__["__base__"].__get__
_ARGS: Final = vars(BaseException)["args"]
_BYTES: Final = (bytes, bytearray)


class Place(str):
    """Where an object that is no plain container keeps another, as one would name it: ".args[0]", "n"."""


def contents(subject: _native.Subject) -> Contents | None:
    """The column `contents`; None if the object is no container, or its bytes are known to an adapter."""
    x = subject.get()
    is_exception = _is_exception(type(x))
    if not (is_exception or _is_container(type(x)) or _is_finished(x)):
        return None
    from inspector.facts.contents import Contents

    keys: dict[int, list[Any]] = {}
    values: dict[int, _native.Subject] = {}
    for key, value in islice(_pairs(x), MOST_PAIRS):
        kind = type(value)
        if kind is int or kind is float or kind is bool or value is None:
            continue  # it keeps nothing, and nobody asks who holds it
        keys.setdefault(id(value), []).append(key)
        values.setdefault(id(value), _native.Subject(value))
    roots = list(values.values())
    if not is_exception:  # its frames refer to the module's names too, which it does not keep
        roots.append(subject)
    rows, kinds, complete = walked(roots, once=True)
    held = [one for row in rows for one in row[3]]
    arrays = [one for one in held if not any(type(one) is kind for kind in _BYTES)]
    own = 0 if is_exception else _native.names({"x": subject})[0][4]
    inner = {adapter.library for kind in kinds if has_blocks(kind) and (adapter := adapter_of(kind))}
    opaque = [kind for kind in kinds if _is_opaque(kind) and full_name(kind).partition(".")[0] not in inner]
    opaque += [type(one) for one in arrays[:MOST_ASKED] if _is_in_graph(one)]
    return Contents(
        max(
            sum(row[2] for row in rows) - (not is_exception), 0
        ),  # without itself; nothing where it is never freed
        max(sum(row[1] for row in rows) - own, 0) + _payload(held),
        len(arrays),
        _payload(arrays),
        complete,
        tuple(_items(list(values.values()), rows, keys)),
        boxes(x, Words(_what, _key)) if keys and type(x) in _KEYED and len(x) <= MOST_SLOTS else (),
        tuple(dict.fromkeys(map(type_name, opaque)))[:MOST_NAMED],
        _behind(held, [one for row in rows for one in row[4]]),
    )


def _behind(held: list[Any], behind: list[Any]) -> int:
    """Bytes that arrays keep and do not show."""
    shown = [piece_of(block) for block in blocks_of(held)]
    return distinct([*shown, *map(piece_of, kept_behind(held, behind))]) - distinct(shown)


def _payload(arrays: list[Any]) -> int:
    return distinct([piece_of(block) for block in blocks_of(arrays)])


def _items(values: list[_native.Subject], rows: list[Walked], keys: dict[int, list[Any]]) -> Iterator[Item]:
    """The items with most bytes; those of an exact dict, list or tuple, by key or index."""
    from inspector.facts.contents import Item

    weights = [row[1] + (_payload(row[3]) if row[3] else 0) for row in rows[: len(values)]]
    for at in sorted(range(len(values)), key=lambda at: -weights[at])[:MOST_NAMED]:
        one = values[at]
        places = keys[one.address]
        place = places[0] if type(places[0]) is Place else f"[{_key(places[0])}]"
        yield Item(place, _what(one.get()), weights[at], Address(one.address), len(places))


def _pairs(x: Any) -> Iterator[tuple[Any, Any]]:
    """(key or index, item) of an exact dict, list or tuple without empty slots; what a callable keeps."""
    if type(x) is dict:
        yield from list(islice(x.items(), MOST_PAIRS))
    elif type(x) is list or type(x) is tuple:
        if len(x) > MOST_COPIED:
            return
        yield from enumerate(x[:MOST_PAIRS]) if is_full(x) else ()  # a copy of empty slots is a crash, too
    elif type(x) is types.MethodType:
        yield Place(".__self__"), x.__self__
    elif _is_exception(type(x)):
        yield from ((Place(f"{name} of {function}"), one) for name, function, one in variables(x))
        yield from ((Place(f".args[{n}]"), one) for n, one in enumerate(_ARGS.__get__(x)[:MOST_PAIRS]))
        yield from ((Place(f".{name}"), one) for name, one in islice(attributes(x), MOST_PAIRS))
    elif _is_finished(x):
        name, one = outcome(x)
        yield Place(f".{name}"), one
    elif type(x) is types.FunctionType:
        for name, cell in zip(x.__code__.co_freevars, x.__closure__ or (), strict=False):
            yield from ((Place(name), one) for one in referents((cell,)))
        yield from ((Place(f"{name}="), one) for name, one in _defaults(x) if _is_sized(one))
    elif any(type(x) is one for one in (*_WRAPPERS, *ITERATORS)):
        yield from ((Place(), one) for one in referents((x,)))
    elif is_open(type(x)) or any(type(x) is one for one in (functools.partial, types.SimpleNamespace)):
        rows = islice(kept(x, MOST_PAIRS) if is_whole(x) else (), MOST_PAIRS)
        yield from ((Place(f".{key}") if type(key) is Attribute else key, one) for key, one in rows)


def _defaults(x: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """The arguments of a function with a default value, and these."""
    given = x.__defaults__ or ()
    code = x.__code__
    yield from zip(code.co_varnames[code.co_argcount - len(given) : code.co_argcount], given, strict=True)
    yield from list((x.__kwdefaults__ or {}).items())


def _is_sized(x: Any) -> bool:
    return any(type(x) is one for one in (list, dict, set))


def _key(key: Any) -> str:
    return key_text(_native.Subject(key))


def _what(x: Any) -> str:
    """The type of an item with its shape or its length."""
    kind = type(x)
    name = type_name(kind)
    if any(kind is one for one in _SIZED):
        return f"{name} ({counted(len(x), 'item')})"
    adapter = None if any(kind is one for one in _PLAIN) else adapter_of(kind)
    blocks = adapter.elements(x) if adapter is not None else ()
    return f"{name} {blocks[0].format} {blocks[0].shape}" if len(blocks) == 1 else name


def _is_opaque(kind: type) -> bool:
    """Whether its objects may keep bytes that nothing tells: a C type of a library without an adapter."""
    if any(kind is known for known in _PLAIN) or adapter_of(kind) is not None or plain(kind) is not None:
        return False
    return any(map(_is_foreign, type_bases(kind)))


def _is_foreign(base: type) -> bool:
    """Whether a class is made in C, by others than Python and NumPy, whose types tell what they keep."""
    top = full_name(base).partition(".")[0] if "." in full_name(base) else "builtins"
    if top == "builtins":  # pyo3's classes have this module too
        known = base is object or not is_heap_type(base)
    else:
        known = top in sys.stdlib_module_names or top == "numpy"
    if known:
        return False
    row = _native.type_layout(_native.Subject(base))
    return row is None or bool(row["origin"] and _adds_fields(row, base))


def _adds_fields(row: _native.TypeRow, base: type) -> bool:
    """Whether its C struct is larger than its base's, by more than the one item some structs begin with."""
    above = _native.type_layout(_native.Subject(_BASE(base)))
    return above is None or bool(row["basicsize"] - above["basicsize"] > above["itemsize"])


def _is_in_graph(x: Any) -> bool:
    """Whether a tensor may keep a graph of what it was computed from, with the tensors saved in it."""
    adapter = adapter_of(type(x))
    told = dict(adapter.names(x)) if adapter is not None else {}
    return told.get("autograd", "no") != "no"


def _is_exception(kind: type) -> bool:
    return any(base is BaseException for base in type_bases(kind))


def _is_finished(x: Any) -> bool:
    """Whether it is a future that has its result, or its exception."""
    return isinstance(adapter_of(type(x)), FuturesPending) and has_ended(x)


def _is_container(kind: type) -> bool:
    """Whether it is a container of Python's, a function, or an instance of a class statement."""
    if any(kind is one for one in _KEEPERS) or full_name(kind) in _OF_OBJECTS:
        return True
    if adapter_of(kind) is not None:
        return False
    if any(base is one for base in type_bases(kind) for one in _CONTAINERS):
        return True
    return kind is not object and plain(kind) is INSTANCES
