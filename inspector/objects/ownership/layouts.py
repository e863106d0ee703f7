"""Offsets of the references in objects' C structs, measured on samples.

The offset is that of the word in the sample's struct that equals the address of the attribute's value. So a
layout that CPython or a library changed gives no offset instead of a wrong one.
"""

# SPDX-License-Identifier: MIT
import functools
import gc
import struct
import sys
import types
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any

from inspector import _native
from inspector.objects.classes import type_bases, type_namespace

ITEMS = 1 << 31
"""Marks the offset of a pointer to a block of references, not of a reference (native/search/slots.c)."""
ALIKE = 1 << 30
"""Marks a reference that is owned only where it leads to an object of the holder's type."""

HEAD = object.__basicsize__

Layouts = tuple[tuple[type, tuple[int, ...]], ...]


def offsets(sample: object, attributes: Iterable[str]) -> dict[int, str]:
    """Offset -> attribute, for the words of the sample's struct that are these attributes' addresses."""
    values = {id(getattr(sample, name)): name for name in attributes}
    raw = _native.read(id(sample), type(sample).__basicsize__)
    words = struct.unpack(f"={len(raw) // 8}Q", raw[: len(raw) // 8 * 8]) if raw else ()
    return {8 * n: values[word] for n, word in enumerate(words) if 8 * n >= HEAD and word in values}


@cache
def _builtin_layouts() -> Layouts:
    code = _sample_function(object()).__code__
    names = ("co_consts", "co_names", "co_filename", "co_name", "co_qualname")
    tables = ("co_linetable", "co_exceptiontable")
    return (
        (types.CodeType, (*offsets(code, names + tables), *_code_fields())),
        (range, _range_fields()),
        *_lru_layout(),
    )


def _range_fields() -> tuple[int, ...]:
    """Offsets of its three bounds, and of its length, which no attribute returns."""
    numbers = range(10**30, 3 * 10**30, 10**29)
    raw = _native.read(id(numbers), range.__basicsize__) or b""
    owned = (id(numbers.start), id(numbers.stop), id(numbers.step), id(len(numbers)))
    words = struct.unpack(f"={len(raw) // 8}Q", raw)
    return tuple(8 * n for n, word in enumerate(words) if 8 * n >= HEAD and word in owned)


def _code_fields() -> tuple[int, ...]:
    """Offsets by CPython's header (Include/cpython/code.h): no Python attribute returns these."""
    return tuple(
        offset | ITEMS if name == "_co_cached" else offset for name, offset in _native.CODE_FIELDS.items()
    )


def _lru_layout() -> Layouts:
    """The links of `functools.lru_cache`: objects not tracked by the gc, each with a key and a result.

    In a bounded cache each link also owns the next one; the last one's pointer leads back to the cache, and
    owns nothing (Modules/_functoolsmodule.c).
    """

    @lru_cache(maxsize=2)
    def remembered(key: object) -> object:
        return result

    first, second, result = 10**30, 10**30 + 1, object()  # an int is its own key; other arguments are wrapped
    remembered(first)
    remembered(second)
    links = [
        link
        for table in gc.get_referents(remembered)
        if type(table) is dict
        for link in table.values()
        if type(link).__name__ == "_lru_list_elem"
    ]
    raw = _native.read(id(links[0]), type(links[0]).__basicsize__) if len(links) == 2 else None
    words = struct.unpack(f"={len(raw) // 8}Q", raw) if raw else ()
    owned = {id(first): 0, id(result): 0, **{id(link): ALIKE for link in links[1:]}}
    found = tuple(8 * n | owned[word] for n, word in enumerate(words) if word in owned)
    return ((type(links[0]), found),) if len(found) == len(owned) else ()


@cache
def _ndarray_layout(numpy: types.ModuleType) -> Layouts:
    whole = numpy.zeros(4, "f8")
    view = whole[1:]
    found = offsets(view, ("base", "dtype"))
    raw = _native.read(id(view) + HEAD, 8)
    data = struct.unpack("=Q", raw)[0] if raw else 0
    if sorted(found.values()) != ["base", "dtype"] or data != view.__array_interface__["data"][0]:
        return ()
    return ((numpy.ndarray, (*found, HEAD | ITEMS)),)


def layouts() -> Layouts:
    """Exact types with references invisible to the gc: (type, offsets of owned fields)."""
    numpy = sys.modules.get("numpy")
    if (
        type(numpy) is not types.ModuleType
        or "ndarray" not in numpy.__dict__
        or "zeros" not in numpy.__dict__
    ):
        return _builtin_layouts()
    return _builtin_layouts() + _ndarray_layout(numpy)


def _sample_function(cell: object) -> Any:
    def function(first: object = (1, 2), *, second: object = 3) -> object:
        """Doc."""
        return cell

    return function


def fields(kind: type) -> dict[int, str]:
    """Offset -> attribute of the fields of an exact type; members that the type declares, and samples.

    Not cached by type: a metaclass may define `__hash__`, and that is user code.
    """
    found: dict[int, str] = {}
    for base in reversed(type_bases(kind)):
        for name, member in type_namespace(base).items():
            if type(member) is types.MemberDescriptorType and type(name) is str:
                found[_member_offset(member)] = name
    sampled = next((names for sample, names in _sampled() if sample is kind), {})
    return {**found, **sampled, **_library_fields(kind)}


def _library_fields(kind: type) -> dict[int, str]:
    numpy = sys.modules.get("numpy")
    if numpy is None or numpy.__dict__.get("ndarray") is not kind:
        return {}
    return offsets(numpy.zeros(4, "f8")[1:], ("base", "dtype"))


def _member_offset(member: types.MemberDescriptorType) -> int:
    """PyMemberDescrObject.d_member->offset (Include/cpython/descrobject.h, Include/descrobject.h)."""
    row = struct.unpack("=Q", _native.read(id(member) + HEAD + 24, 8) or bytes(8))[0]
    return int(struct.unpack("=q", _native.read(row + 16, 8) or bytes(8))[0])


@cache
def _sampled() -> tuple[tuple[type, dict[int, str]], ...]:
    """Fields that have no member descriptor: found on samples."""
    function = _sample_function(object())
    getter = property(_sample_function, lambda self, value: None, lambda self: None)
    partial = functools.partial(print, 1, sep="")
    parts = ("__globals__", "__builtins__", "__name__", "__qualname__", "__code__", "__defaults__")
    more = ("__kwdefaults__", "__closure__", "__doc__", "__dict__", "__module__", "__annotations__")
    return (
        (types.FunctionType, offsets(function, (*parts, *more))),
        (property, offsets(getter, ("fget", "fset", "fdel"))),
        (functools.partial, offsets(partial, ("func", "args", "keywords"))),
        (types.MethodType, offsets(_Sample().method, ("__self__", "__func__"))),
        (types.BuiltinFunctionType, offsets([].append, ("__self__",))),
        (types.CodeType, {offset: name for name, offset in _native.CODE_FIELDS.items()}),
    )


class _Sample:
    def method(self) -> None:
        """Do nothing: a sample."""
