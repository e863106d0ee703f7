"""ctypes: its own memory, a field of another object, a cast that keeps its source, or unowned memory."""

# SPDX-License-Identifier: MIT
import ctypes
import sys
from collections.abc import Iterator
from typing import Any

from inspector import _native
from inspector.adapters.base import Adapter, Elements, type_attribute, type_module, type_name
from inspector.adapters.beyond import Beyond
from inspector.adapters.language import asked
from inspector.binaries.mappings import plain_mapping
from inspector.facts.amounts import size, with_article
from inspector.facts.buffer import POINTS_TO
from inspector.facts.memory import Range
from inspector.facts.unknown import Address, Unknown
from inspector.objects.classes import basic_size, type_bases, type_namespace

_CDATA = ctypes.Structure.__mro__[-2]
_BASE = type_attribute(_CDATA, "_b_base_").__get__
_OBJECTS = type_attribute(_CDATA, "_objects").__get__
_NEEDS_FREE = type_attribute(_CDATA, "_b_needsfree_").__get__


_CHARACTERS = (("c_char_p", "characters"), ("c_wchar_p", "wide characters"))


class CtypesMemory(Adapter):
    """`_ctypes._CData` with its subclasses: user structures have the same C struct."""

    library = "ctypes"

    def families(self) -> tuple[type, ...]:
        """All ctypes data."""
        return (_CDATA,)

    def self_test(self) -> None:
        """An owner reports its bytes; a field names its owner; an address alone keeps nothing alive."""
        pair = (ctypes.c_int * 2)(1, 2)
        borrowed = (ctypes.c_int * 2).from_address(ctypes.addressof(pair))
        answers = (_NEEDS_FREE(pair), _NEEDS_FREE(borrowed), _BASE(pair), _OBJECTS(borrowed))
        if answers != (1, 0, None, None):
            raise ValueError(f"_b_needsfree_, _b_base_, _objects answer {answers}")

    def elements(self, x: Any) -> tuple[Elements, ...]:
        """Its bytes, unless a user's class defines `__buffer__` (PEP 688)."""
        if _user_buffer(type(x)):
            return ()
        return asked(x, numeric="py_object" not in {base.__name__ for base in type_bases(type(x))})

    def holds(self, x: Any) -> tuple[tuple[str, Any], ...]:
        """The object it is a field of, and the objects its pointers keep alive."""
        base, kept = _BASE(x), _OBJECTS(x)
        owners = list(kept.values()) if type(kept) is dict else [kept]
        found = [("_b_base_", base), *(("_objects", owner) for owner in owners)]
        return tuple((relation, owner) for relation, owner in found if owner is not None)

    def owns(self, x: Any) -> bool | Unknown:
        """`_b_needsfree_`: 0, with no object held, means unowned bytes (from_address)."""
        return bool(_NEEDS_FREE(x))

    def beyond(self, x: Any, found: Beyond) -> None:
        """The block it allocated, unless its bytes fit into the object."""
        address, size = ctypes.addressof(x), ctypes.sizeof(x)
        inside = id(x) <= address < id(x) + basic_size(type(x))
        if _NEEDS_FREE(x) and not inside:
            found.add_block(id(x), address, size, "ctypes memory")

    def names(self, x: Any) -> tuple[tuple[str, str], ...]:
        """`_b_needsfree_` as ctypes reports it."""
        return (*_points_to(x), ("_b_needsfree_", str(_NEEDS_FREE(x))))


def _points_to(x: Any) -> Iterator[tuple[str, str]]:
    """Where a pointer leads, in words: nothing is read there."""
    bases = {base.__name__ for base in type_bases(type(x)) if type_module(base) in ("_ctypes", "ctypes")}
    if not bases & {"_Pointer", "CFuncPtr", "c_void_p", "c_char_p", "c_wchar_p"}:
        return
    raw = _native.read(ctypes.addressof(x), ctypes.sizeof(ctypes.c_void_p))
    if raw is None:  # from_address of memory that is gone: not NULL, but unknown
        return
    at = int.from_bytes(raw, sys.byteorder)
    if not at:
        yield POINTS_TO, "nothing: it is NULL"
        return
    kind = type_attribute(type(x), "_type_") if "_Pointer" in bases else None
    of = next((words for name, words in _CHARACTERS if name in bases), f"{at:#x}")
    if kind is not None:
        of = f"{with_article(type_name(kind))} of {size(ctypes.sizeof(kind))}"
    if isinstance(plain_mapping(Range(Address(at), Address(at + 1))), Unknown):
        yield POINTS_TO, f"{at:#x}, where this process has no memory"
        return
    keeps = "which it keeps alive" if _OBJECTS(x) else "which it does not keep alive"
    yield POINTS_TO, "C code" if "CFuncPtr" in bases else f"{of}, {keeps}"


def _user_buffer(kind: type) -> bool:
    """Whether a class before ctypes' own in the MRO defines `__buffer__`."""
    for base in type_bases(kind):
        if type_module(base) == "_ctypes":
            return False
        if "__buffer__" in type_namespace(base):
            return True
    return False


ADAPTER = CtypesMemory()
