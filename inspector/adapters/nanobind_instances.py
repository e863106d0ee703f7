"""nanobind: the address of an instance's C++ object, whether it is destroyed with it, what it keeps alive.

`nb_inst` (nanobind/src/nb_internals.h): an offset and a flags word after PyObject_HEAD. The keep_alive flag
moved to a byte of its own when the metaclass lost the number in its name.
"""

# SPDX-License-Identifier: MIT
import struct
from dataclasses import dataclass
from typing import Any

from inspector import _native
from inspector.adapters.base import Adapter, type_module, type_name
from inspector.adapters.told import BORROWED, Layer, Told, field
from inspector.facts.unknown import Unknown

HEAD = 16
STATES = {0: "uninitialized", 1: "relinquished to C++", 2: "ready"}
DIRECT, INTERNAL, DESTRUCT, DELETE = 1 << 2, 1 << 3, 1 << 4, 1 << 5
KEEPS_SINCE_3, KEEPS_BEFORE = 0xFF00, 1 << 6


@dataclass(frozen=True, slots=True)
class Instance:
    """The fields of the struct that are read."""

    address: int
    state: str
    internal: bool
    destruct: bool
    keeps: bool


class NanobindInstances(Adapter):
    """All classes with nanobind's metaclass."""

    library = "nanobind"

    def claims(self, kind: type) -> bool:
        """Whether nanobind made the type: `nb_type`, or `nb_type_0` before 3.0."""
        made = type(kind)
        return type_module(made) == "nanobind" and type_name(made).startswith("nb_type")

    def owns(self, x: Any) -> bool | Unknown:
        """Whether the C++ object is destroyed with the Python object."""
        found = _instance(x)
        return found.internal or found.destruct

    def names(self, x: Any) -> tuple[tuple[str, str], ...]:
        """The flags as nanobind calls them."""
        found = _instance(x)
        return (
            ("inst_ptr", f"{found.address:#x}"),
            ("state", found.state),
            ("internal", "the C++ object lies in the Python object" if found.internal else "no"),
            ("destruct", str(found.destruct).lower()),
            ("keep_alive", "keeps others alive" if found.keeps else "nobody"),
        )

    def layers(self, x: Any) -> Told:
        """The Python object, and the C++ object inside or outside it."""
        found, name = _instance(x), type_name(type(x))
        seen = [field("state", found.state), field("destruct", str(found.destruct).lower())]
        if found.keeps:
            seen.append(field("clear_keep_alive", "true"))
        if found.state != "ready":
            return Told((Layer("wrapper", name, "closed", "none", evidence=tuple(seen)),))
        owned = found.internal or found.destruct
        title: Any = "owned" if owned else "view" if found.keeps else "borrowed"
        where: Any = "inline" if found.internal else "heap"
        layer = Layer("wrapper", f"{name}, a C++ object", "computed", where, title, tuple(seen))
        return Told((layer,), findings=(BORROWED,) if title == "borrowed" else ())


def _instance(x: Any) -> Instance:
    offset, flags = struct.unpack("iI", _native.read(id(x) + HEAD, 8) or bytes(8))
    address = id(x) + offset
    if not flags & DIRECT:
        address = int.from_bytes(_native.read(address, 8) or b"", "little")
    keeps = KEEPS_SINCE_3 if type_name(type(type(x))) == "nb_type" else KEEPS_BEFORE
    state = STATES.get(flags & 3, "unknown")
    destruct = bool(flags & (DESTRUCT | DELETE))
    return Instance(address, state, bool(flags & INTERNAL), destruct, bool(flags & keeps))


ADAPTER = NanobindInstances()
