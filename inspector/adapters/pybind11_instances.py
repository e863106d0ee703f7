"""pybind11: an instance points to a C++ object and stores what owns it and whether it keeps others alive.

The fields of `pybind11::detail::instance` (pybind11/detail/common.h) read here are equal from 2.13 to 3.1.
"""

# SPDX-License-Identifier: MIT
import struct
from dataclasses import dataclass
from typing import Any

from inspector import _native
from inspector.adapters.base import Adapter, type_module, type_name
from inspector.adapters.told import BORROWED, Layer, Told, field
from inspector.facts.unknown import Unknown
from inspector.objects.classes import basic_size, type_bases

BASICSIZE = 56
FLAGS_WORD = 6
USE_COUNT = 8
"""Offset of the count in the control block of libstdc++'s shared_ptr."""


@dataclass(frozen=True, slots=True)
class Instance:
    """The fields of the struct that are read."""

    value: int
    control: int
    """Second word of the holder: the control block of a shared_ptr, 0 for a unique_ptr."""
    owned: bool
    simple: bool
    held: bool
    """Whether the holder is constructed."""
    patients: bool


class Pybind11Instances(Adapter):
    """All classes with pybind11's base in their MRO; the metaclass tells, before anything is read."""

    library = "pybind11_builtins"

    def claims(self, kind: type) -> bool:
        """Whether pybind11 made the type, with a supported struct size."""
        return type_module(type(kind)) == "pybind11_builtins" and any(
            type_name(base) == "pybind11_object" and basic_size(base) == BASICSIZE
            for base in type_bases(kind)
        )

    def owns(self, x: Any) -> bool | Unknown:
        """The flag `owned`."""
        return _instance(x).owned

    def names(self, x: Any) -> tuple[tuple[str, str], ...]:
        """The flags as pybind11 calls them, and the holder."""
        found = _instance(x)
        return (
            ("value", f"{found.value:#x}" if found.value else "NULL"),
            ("owned", str(found.owned).lower()),
            ("holder", _holder(found)),
            ("keep_alive", "keeps others alive (has_patients)" if found.patients else "nobody"),
        )

    def layers(self, x: Any) -> Told:
        """The Python object, and the C++ object it points to."""
        found = _instance(x)
        seen = [field("owned", str(found.owned).lower()), field("holder", _holder(found))]
        if found.patients:
            seen.append(field("has_patients", "true: keep_alive"))
        name = type_name(type(x))
        if not found.value:
            gone = field("value", "NULL: not constructed, or given away")
            return Told((Layer("wrapper", name, "closed", "none", evidence=(gone, *seen)),))
        title: Any = "owned" if found.owned else "view" if found.patients else "borrowed"
        layer = Layer("wrapper", f"{name}, a C++ object", title=title, evidence=tuple(seen))
        return Told((layer,), findings=(BORROWED,) if title == "borrowed" else ())


def _instance(x: Any) -> Instance:
    words = struct.unpack("7Q", _native.read(id(x), BASICSIZE) or bytes(BASICSIZE))
    flags = words[FLAGS_WORD]
    simple, held = bool(flags & 2), bool(flags & 4)
    value, control = words[2], words[4]
    if not simple:  # a separate table: the first value, its holder, and so on
        raw = _native.read(words[2], 8) if words[2] else None
        value, control = int.from_bytes(raw or b"", "little"), 0
    return Instance(value, control, bool(flags & 1), simple, held, bool(flags & 16))


def _holder(found: Instance) -> str:
    if not found.simple:
        return "more than one, or a large one"
    if not found.held:
        return "none"
    raw = _native.read(found.control + USE_COUNT, 4) if found.control else None
    if raw is None:
        return "of one pointer (unique_ptr)"
    return f"of two pointers (shared_ptr, use_count {int.from_bytes(raw, 'little')})"


ADAPTER = Pybind11Instances()
