"""Both sides of a conversion between R and Python, and what one of them lost: every element is compared."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterator, Sequence
from operator import ne
from typing import Any, Final

from inspector import _native
from inspector.facts.converted import HostSide, How, ValueChange
from inspector.facts.unknown import Unknown
from inspector.objects.classes import type_module, type_name
from inspector.objects.layouts import r_altrep
from inspector.objects.layouts import r_vectors as r
from inspector.objects.layouts.r_objects import DATA, ITEM_BYTES, LIST, Header

NUMBERS: Final = (int, float, bool)
CODES: Final = frozenset("?bBhHiIlLqQdfe")
NA_INTEGER64: Final = -(1 << 63)
TEXTS_MAX: Final = 10_000
"""Strings are compared one by one: of a longer vector the first ones."""
DEPTH_MAX, ITEMS_MAX, OBJECTS_MAX = 4, 1_000, 1 << 21
MASKED: Final = ("numpy.ma", "numpy.ma.core")
KEPT: Final = ("names", "dim", "class", "row.names", "levels")
"""Attributes that are part of the value, or are told as such."""
CARRIED: Final = frozenset(
    ("data.frame", "Date", "POSIXct", "POSIXlt", "difftime", "integer64", "factor", "AsIs")
)
"""Classes that Python has too, or whose loss is told by another attribute or by the values."""


class Pair:
    """An R value and the Python object that it became, or was."""

    def __init__(self, value: Header, obj: Any, to_python: bool) -> None:
        self.value, self.obj, self.to_python = value, obj, to_python
        self.held = r.attributes(value)
        self.elements = r.elements(value)
        plain = r.plain_of(value)
        self.count = 0 if plain is None else plain.first
        self.compared = plain is not None

    def sides(self) -> tuple[HostSide, HostSide]:
        """(given, became)."""
        ours = (r_side(self.value, self.held), python_side(self.obj))
        return ours if self.to_python else (ours[1], ours[0])

    def how(self) -> How:
        """How the elements crossed."""
        if self.value.type not in ITEM_BYTES:
            return "wrapped"
        if (view := _memory(self.obj)) is not None and view.ndim:
            if self.value.type in (LIST, r.STRING):
                return "one by one"  # R's texts and items are objects of their own
            return "shared" if _is_inside(self.obj, self.value) else "one block"
        return "one by one" if _native.exactly(self.obj, list, tuple, dict) else "single"

    def changes(self, where: str = "", depth: int = 0) -> Iterator[ValueChange]:
        """What is not the same on the other side."""
        if self.value.type == LIST:
            yield from self._of_list(where, depth)
        elif self.value.type == r.STRING:
            yield from self._of_texts(where)
        elif self.value.type in r.CODES:
            yield from self._of_numbers(where)
        else:
            self.compared = False
        yield from (self._of_attributes if self.to_python else self._of_mask)(where)

    def _of_list(self, where: str, depth: int) -> Iterator[ValueChange]:
        names = r.texts(self.held.get("names"), ITEMS_MAX)
        count = self.count
        if type(self.obj) is dict:
            if len(self.obj) < count and self.to_python:
                again = next((one for one in names if names.count(one) > 1), "")
                before, after = f"{count} items, {names.count(again)} named {again!r}", f"{len(self.obj)}"
                yield ValueChange("items", where, count - len(self.obj), count, 0, before, after)
                return
            keys = list(self.obj)
            if not self.to_python and (other := [key for key in keys if type(key) is not str]):
                yield ValueChange(
                    "keys", where, len(other), len(keys), 0, _python(other[0]), _python(str(other[0]))
                )
            items: Sequence[Any] = list(self.obj.values())
        else:
            items = _items(self.obj)
        if depth == DEPTH_MAX or count > ITEMS_MAX or len(items) != count:
            self.compared = False
            return
        for at, one in enumerate(items):
            inner = r.item(self.value, at)
            if inner is None or (inner.type not in r.CODES and (inner.type or one is None)):
                continue  # NULL, or a reference to the other side's object
            pair = Pair(inner, one, self.to_python)
            name = f"{where}${names[at]}" if at < len(names) and names[at] else f"{where}[[{at + 1}]]"
            yield from pair.changes(name.lstrip("$"), depth + 1)
            self.compared &= pair.compared

    def _of_texts(self, where: str) -> Iterator[ValueChange]:
        ours, theirs = r.texts(self.value, TEXTS_MAX), _texts(self.obj)
        if theirs is None or not self.compared or len(theirs) != self.count:
            self.compared = False
            return
        self.compared &= self.count <= TEXTS_MAX
        differ = [at for at, (mine, other) in enumerate(zip(ours, theirs, strict=False)) if mine != other]
        missing = [at for at in differ if ours[at] is None]
        for what, found in (("NA", missing), ("text", [at for at in differ if ours[at] is not None])):
            if found:
                mine = "NA" if ours[found[0]] is None else _python(ours[found[0]])
                yield self._change(what, where, found, mine, _python(theirs[found[0]]))

    def _of_numbers(self, where: str) -> Iterator[ValueChange]:
        if self.value.type == r.RAW:
            self.compared = self.elements is not None
            return
        is_complex = self.value.type == r.COMPLEX
        ours, theirs = self.elements, (_halves if is_complex else numbers)(self.obj)
        if ours is None or theirs is None or len(theirs) != len(ours):
            self.compared = False
            return
        if self.value.type == r.REAL and "integer64" in r.texts(self.held.get("class"), 1):
            wide = array("q", ours.tobytes())  # bit64 keeps whole numbers in the bytes of doubles
            if found := [at for at, one in enumerate(wide) if one != theirs[at]]:
                shown = "NA" if wide[found[0]] == NA_INTEGER64 else str(wide[found[0]])
                yield self._change("value", where, found, shown, _python(theirs[found[0]]))
            return
        missing = self.value.type in (r.LOGICAL, r.INTEGER)
        gone = (
            [at for at, one in enumerate(ours) if one == r.NA_INTEGER]
            if missing and r.NA_INTEGER in ours
            else []
        )
        if gone:
            same = self.to_python or theirs[gone[0]] == r.NA_INTEGER
            yield self._change("NA" if same else "value", where, gone, "NA", _python(theirs[gone[0]]))
        if _same(ours, theirs):
            return
        found = [
            at
            for at, other in enumerate(map(ne, ours, theirs))
            if other and not _both_nan(ours[at], theirs[at])
        ]
        if found := [at for at in found if not (missing and ours[at] == r.NA_INTEGER)]:
            yield self._change(
                "value", where, found, _r(ours[found[0]], self.value.type), _python(theirs[found[0]])
            )

    def _of_attributes(self, where: str) -> Iterator[ValueChange]:
        names = self.held.get("names")
        if names is not None and self.value.type != LIST:
            shown = ", ".join(str(one) for one in r.texts(names, 3))
            more = ", …" if self.count > 3 else ""
            yield ValueChange("names", where, self.count, self.count, 0, f"names {shown}{more}", "none")
        kind = r.texts(self.held.get("class"), 1)
        gone = [f"class {kind[0]}"] if kind and kind[0] not in CARRIED else []
        if other := [name for name in self.held if name not in KEPT] or gone:
            yield ValueChange("attributes", where, len(other), len(other), 0, ", ".join(other), "none")

    def _of_mask(self, where: str) -> Iterator[ValueChange]:
        """R gets the values that a mask of NumPy's hides."""
        found = [at for at, hidden in enumerate(_mask(self.obj)) if hidden]
        if found and found[-1] < self.count:
            yield self._change("NA", where, found, r_altrep.text(self.value, found[0]), "masked")

    def _change(self, what: Any, where: str, found: list[int], mine: str, theirs: str) -> ValueChange:
        before, after = (mine, theirs) if self.to_python else (theirs, mine)
        return ValueChange(what, where, len(found), self.count, found[0] + 1, before, after)


def r_side(value: Header, held: dict[str, Header]) -> HostSide:
    """An R value in R's words."""
    kind = r.KINDS.get(value.type, "object")
    if names := r.texts(held.get("class"), 1):
        kind = str(names[0])
    elif "dim" in held:
        kind = f"{kind} matrix" if held["dim"].first == 2 else f"{kind} array"
    plain = r.plain_of(value)
    if value.type not in ITEM_BYTES:
        return HostSide(kind, 1, Unknown("no vector"))
    length = plain.first if plain is not None else 0
    return HostSide(kind, length, length * ITEM_BYTES[value.type] if plain else Unknown("it is lazy"))


def python_side(obj: Any) -> HostSide:
    """A Python object in Python's words, with the objects that only it holds."""
    module, name = type_module(type(obj)), type_name(type(obj))
    name = name if module == "builtins" else f"{module}.{name}"
    view = _memory(obj)
    if view is not None and view.ndim:
        return HostSide(name, view.nbytes // (view.itemsize or 1), view.nbytes)
    if not _native.exactly(obj, list, tuple, dict):
        is_plain = _native.exactly(obj, *NUMBERS, str, bytes)
        return HostSide(name, 1, sys.getsizeof(obj) if is_plain else Unknown("one object"))
    items = list(obj.values()) if type(obj) is dict else obj
    what = type_name(type(items[0])) if len(kinds_of(items)) == 1 else ""
    if len(items) > OBJECTS_MAX or not only(items, *NUMBERS, str):
        return HostSide(name, len(obj), Unknown("its items were not counted"), what)
    if items and only(items, float):  # a million of them are counted, not asked
        size = sys.getsizeof(obj) + sys.getsizeof(0.0) * _distinct(items)
        return HostSide(name, len(obj), size, what)
    distinct = {id(one): one for one in items if type(one) is not bool and not _is_cached(one)}
    return HostSide(name, len(obj), sys.getsizeof(obj) + sum(map(sys.getsizeof, distinct.values())), what)


def kinds_of(items: Sequence[Any]) -> set[int]:
    """The addresses of their types: a metaclass may define __hash__ and __eq__."""
    return set(map(id, map(type, items)))


def only(items: Sequence[Any], *kinds: type) -> bool:
    """Whether all items are of these types."""
    return kinds_of(items) <= set(map(id, kinds))


def _distinct(floats: Sequence[Any]) -> int:
    """How many objects they are: each its own if nothing else holds any, which is known much sooner."""
    alone = sum(map(sys.getrefcount, [struct.unpack("d", bytes(8))[0]]))
    is_each = sum(map(sys.getrefcount, floats)) == alone * len(floats)
    return len(floats) if is_each else len(set(map(id, floats)))


def numbers(obj: Any) -> Sequence[Any] | None:
    """The numbers of an object in R's order, by column; None where it has others."""
    if _native.exactly(obj, *NUMBERS):
        return (obj,)
    if _native.exactly(obj, list, tuple):
        return obj if only(obj, *NUMBERS) else None
    view = _memory(obj)
    order, code = _order(view)
    if view is None or code not in CODES:
        return None
    content = view.tobytes("F") if view.ndim else view.tobytes()
    if order or code == "e":
        return struct.unpack(f"{order or '='}{len(content) // view.itemsize}{code}", content)
    return [one != 0 for one in content] if code == "?" else array(code, content)


def _order(view: memoryview | None) -> tuple[str, str]:
    """(">" or "<" where the format names the order of bytes, else ""; the rest of the format)."""
    code = view.format if view is not None else ""
    return (code[0], code[1:]) if code[:1] in ("<", ">") else ("", code)


def _halves(obj: Any) -> Sequence[Any] | None:
    """Real and imaginary parts of complex numbers, one after the other; None where it has others."""
    many = obj if _native.exactly(obj, list, tuple) else (obj,)
    if only(many, complex, float):
        return array("d", [half for one in many for half in (one.real, one.imag)])
    view = _memory(obj)
    order, code = _order(view)
    if view is None or code not in ("Zd", "Zf"):
        return None
    content = view.tobytes("F") if view.ndim else view.tobytes()
    if order:
        return struct.unpack(f"{order}{2 * len(content) // view.itemsize}{code[1]}", content)
    return array(code[1], content)


def _items(obj: Any) -> Sequence[Any]:
    """Of a list, a tuple, an array of objects; none of anything else."""
    view = _memory(obj)
    found: Any = obj.ravel("F").tolist() if view is not None and view.format == "O" else obj
    return list(found) if _native.exactly(found, list, tuple) else ()


def _memory(obj: Any) -> memoryview | None:
    """The bytes of NumPy's arrays and numbers, bytearrays and bytes."""
    if not _native.exactly(obj, bytes, bytearray) and type_module(type(obj)) not in ("numpy", *MASKED):
        return None
    try:
        return memoryview(obj)
    except (TypeError, ValueError, BufferError):
        return None


def _mask(obj: Any) -> list[bool]:
    """What a masked array of NumPy's hides, in R's order; empty for nothing."""
    is_masked = type_name(type(obj)) == "MaskedArray" and type_module(type(obj)) in MASKED
    return list(obj.mask.ravel("F").tolist()) if is_masked and obj.mask.ndim else []


def _is_inside(obj: Any, value: Header) -> bool:
    plain = r.plain_of(value)
    span = getattr(obj, "__array_interface__", None) if type_module(type(obj)) == "numpy" else None
    if plain is None or span is None:
        return False
    start = plain.address + DATA
    return bool(start <= span["data"][0] < start + max(plain.first * ITEM_BYTES[plain.type], 1))


def _texts(obj: Any) -> Sequence[Any] | None:
    if type(obj) is str:
        return (obj,)
    view = _memory(obj)
    if view is not None and view.format[-1:] in ("O", "w"):
        obj = obj.ravel("F").tolist()
    return obj if _native.exactly(obj, list, tuple) and only(obj, str) else None


def _same(ours: array[Any], theirs: Sequence[Any]) -> bool:
    """Whether all are equal, NaN included."""
    if isinstance(theirs, array) and theirs.typecode == ours.typecode:
        return bool(memoryview(ours).cast("B") == memoryview(theirs).cast("B"))
    if ours.typecode == "d" and only(theirs, float):
        return array("d", theirs).tobytes() == ours.tobytes()
    return not any(map(ne, ours, theirs))


def _both_nan(mine: Any, other: Any) -> bool:
    return bool(mine != mine and other != other)


def _is_cached(one: Any) -> bool:
    """Whether the interpreter keeps it anyway."""
    return type(one) is int and -5 <= one <= 256


def _python(one: Any) -> str:
    shown = repr(one)
    return shown if len(shown) <= 40 else f"{shown[:39]}…"


def _r(one: Any, kind: int) -> str:
    if kind == r.REAL:
        return f"{one:.17g}"
    return f"{one}L" if kind == r.INTEGER else {0: "FALSE", 1: "TRUE"}.get(one, str(one))
