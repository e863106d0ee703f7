"""Objects of C types that point to memory of their own, of which neither their size nor an adapter tells."""

# SPDX-License-Identifier: MIT
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final

from inspector import _native
from inspector.adapters.registry import adapter_of
from inspector.objects.classes import basic_size, full_name, type_bases, type_namespace
from inspector.objects.layouts.shared_pointers import words_at
from inspector.objects.reach.opaque import is_foreign, is_opaque
from inspector.objects.reach.untold import MOST_BYTES

MOST_OBJECTS: Final = 30_000_000
MOST_ASKED: Final = 200
"""Objects of such types that are read."""
MOST_WORDS: Final = 512
"""Of one struct."""
SMALL: Final = 4_096
"""Items of a text that C code keeps and does not report: fewer are no news."""
_HEAD: Final = object.__basicsize__ // 8
"""Words of PyObject_HEAD: the last is the type."""
_TYPE: Final = (_HEAD - 1) * 8
_BINDINGS: Final = ("pybind11_builtins", "nanobind")
_TELLS: Final = ("bitarray",)
"""Libraries whose `__sizeof__` is believed (native/objects/own_bytes.c)."""
_MOST_FIELDS: Final = 100
"""Of a type of Arrow: a field takes some hundred bytes."""
_UNTRACKED: Final = (str, bytes, bytearray, int)


def hidden(subject: _native.Subject, names: Collection[str], known: Collection[int]) -> str:
    """The type of an object that is freed with this one and keeps what nothing tells; "" for none.

    `names`: types of what is freed; `known`: addresses of objects of which an adapter tells what they own.
    """
    _, types, _ = _native.reached((subject,), (), (), MOST_OBJECTS, 0, True)
    kinds = tuple(kind for kind in types if _in_rows(kind) in names and _may_hide(kind))
    if not kinds:
        return ""
    rows, _, _ = _native.reached((subject,), (), kinds, MOST_OBJECTS, MOST_ASKED, True)
    pages = _Pages()
    asked = (one for row in rows for one in (*row[3], *row[4]) if id(one) not in known)
    return next((full_name(type(one)) for one in asked if _keeps(one, pages)), "")


def _in_rows(kind: type) -> str:
    """Its name in the rows of what is freed: without the module "builtins", which pyo3's classes have too."""
    return full_name(kind).removeprefix("builtins.")


def _may_hide(kind: type) -> bool:
    if full_name(kind) in MOST_BYTES:
        return False
    return _is_bound(kind) or (is_opaque(kind) and full_name(kind).partition(".")[0] not in _TELLS)


def _is_bound(kind: type) -> bool:
    """Whether its objects are of C++, bound by a library: what they keep is not Python's."""
    adapter = adapter_of(kind)
    return adapter is not None and adapter.library in _BINDINGS


class _Pages:
    """Memory that allocators gave out: writable, and of no file or library."""

    def __init__(self) -> None:
        rows = _native.maps()
        found = [row for row in rows if row[2].startswith("rw-p") and row[5] in ("", "[heap]")]
        self._starts, self._stops = [row[0] for row in found], [row[1] for row in found]

    def __contains__(self, address: object) -> bool:
        assert isinstance(address, int)
        at = bisect_right(self._starts, address) - 1
        return at >= 0 and address < self._stops[at] and _native.image(address) is None


def _keeps(one: Any, pages: _Pages) -> bool:
    if any(full_name(base) == "pyarrow.lib.DataType" for base in type_bases(type(one))):
        return _fields(one) > _MOST_FIELDS
    return any(address in pages and not _is_counted(address, before) for before, address in _words(one))


def _fields(one: Any) -> int:
    """Fields of a type of Arrow, nested ones too; stops where they are many."""
    base = next(base for base in type_bases(type(one)) if full_name(base) == "pyarrow.lib.DataType")
    count = type_namespace(base)["num_fields"].__get__(one)
    if count > _MOST_FIELDS:
        return int(count)
    fields = (type_namespace(base)["field"](one, at).type for at in range(count))
    return int(count) + sum(map(_fields, fields))


def _words(one: Any) -> Iterator[tuple[int, int]]:
    """(the word before it, a word) of its fields that lead elsewhere; without those of Python's bases."""
    start, size = id(one), basic_size(type(one))
    bases = () if _is_bound(type(one)) else type_bases(type(one))
    known = next((basic_size(base) for base in bases if not is_foreign(base)), 0)
    words = words_at(start, min(size // 8, MOST_WORDS))[max(_HEAD, known // 8) :]
    for before, word in zip((0, *words), words, strict=False):
        if word and not start <= word <= start + size:
            yield before, word


def _is_counted(address: int, before: int) -> bool:
    """Whether an object of Python lies there, or the elements of the array that the word before refers to."""
    kind = _type_at(address)
    if kind:
        is_text = any(kind == id(one) for one in _UNTRACKED)
        return not is_text or _first(words_at(address + _HEAD * 8, 1)) < SMALL
    return bool(before) and _type_at(before) != 0 and address % 8 == 0 and _shows(before)


def _shows(address: int) -> bool:
    """Whether the object shows elements, as a memoryview of Cython, before whose fields it stands."""
    name = _native.read(_first(words_at(_type_at(address) + _HEAD * 8 + 8, 1)), 64) or b""
    return name.partition(b"\0")[0].rpartition(b".")[2] in (b"memoryview", b"_memoryviewslice", b"ndarray")


def _type_at(address: int) -> int:
    """The address of the type of the object that lies there; 0 where none does."""
    kind = _first(words_at(address + _TYPE, 1)) if address % 8 == 0 else 0
    above = _first(words_at(kind + _TYPE, 1)) if kind % 8 == 0 else 0
    is_type = above == id(type) or (above % 8 == 0 and _first(words_at(above + _TYPE, 1)) == id(type))
    return kind if is_type else 0


def _first(words: Iterable[int]) -> int:
    return next(iter(words), 0)
