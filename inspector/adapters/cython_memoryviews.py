"""Cython: the memoryview that a typed memoryview becomes in Python, by its C struct (View.MemoryView).

Every extension has its own types, which are recognized by name, vtable and size.
"""

# SPDX-License-Identifier: MIT
import gc
import struct
import sys
from typing import Any

from inspector import _native
from inspector.adapters.base import Adapter, Elements, type_name
from inspector.adapters.formats import format_name
from inspector.adapters.registry import numbers
from inspector.adapters.told import Layer, Told, field
from inspector.facts.unknown import Unknown
from inspector.objects.classes import type_bases, type_namespace

SIZES = {"memoryview": 160, "_memoryviewslice": 392}
ACQUIRED, VIEW, PARENT = 56, 64, 160
"""Offsets of acquisition_count, of the Py_buffer, and in a slice of the memoryview it was taken from."""
MOST_DIMENSIONS = 8


class CythonMemoryviews(Adapter):
    """memoryview and _memoryviewslice of any extension."""

    library = "cython_runtime"
    versions = ("3.0", "3.4")

    def self_test(self) -> None:
        """The Cython versions of the loaded extensions are supported; each object's struct is checked."""
        first, below = map(numbers, self.versions)
        for name in [name for name in sys.modules if name.startswith("_cython_")]:
            version = name.removeprefix("_cython_").replace("_", ".")
            if not first <= numbers(version) < below:
                raise ValueError(f"Cython {version} is outside {' <= version < '.join(self.versions)}")

    def claims(self, kind: type) -> bool:
        """Whether it is one of the two types, made by Cython."""
        return any(
            SIZES.get(type_name(base)) == type.__dict__["__basicsize__"].__get__(base)
            and "__pyx_vtable__" in type_namespace(base)
            for base in type_bases(kind)
        )

    def elements(self, x: Any) -> tuple[Elements, ...]:
        """Its block, if the Py_buffer's length matches its shape."""
        raw = _native.read(id(x) + VIEW, 72)
        if raw is None:
            return ()
        address, _, length, size, readonly, ranks, code, shape_at, strides_at, indirect = struct.unpack(
            "QQQqiiQQQQ", raw
        )
        if not 0 <= ranks <= MOST_DIMENSIONS or size <= 0 or indirect:
            return ()
        shape, strides = _signed(shape_at, ranks), _signed(strides_at, ranks)
        typestr = (_native.read(code, 8) or b"B\0").partition(b"\0")[0].decode("ascii", "replace")
        name = type_name(type(x))
        block = Elements(
            "struct fields", address, shape, strides, size, format_name(typestr, size), typestr,
            bool(readonly), name, numeric="O" not in typestr,
        )  # fmt: skip
        return (block,) if block.size * size == length else ()

    def holds(self, x: Any) -> tuple[tuple[str, Any], ...]:
        """The exporter of its buffer."""
        kept = (held for held in gc.get_referents(x) if held is not None)
        return tuple(("obj", held) for held in kept)[:1]

    def owns(self, x: Any) -> bool | Unknown:
        """False: the bytes are the exporter's."""
        return False

    def names(self, x: Any) -> tuple[tuple[str, str], ...]:
        """How many typed memoryviews in C hold the buffer."""
        return (("acquisition_count", str(acquisition_count(x))),)

    def layers(self, x: Any) -> Told:
        """The memoryview with its acquisition count; the probe adds the bytes."""
        seen = field("acquisition_count", f"{acquisition_count(x)} in C")
        return Told((Layer("wrapper", f"Cython {type_name(type(x))}", evidence=(seen,)),))


def acquisition_count(x: Any) -> int:
    """Typed memoryviews in C that hold the buffer; for a slice, counted by its original memoryview."""
    counted = id(x)
    if any(type_name(base) == "_memoryviewslice" for base in type_bases(type(x))):
        counted = int.from_bytes(_native.read(id(x) + PARENT, 8) or b"", "little") or counted
    return int.from_bytes(_native.read(counted + ACQUIRED, 4) or b"", "little")


def _signed(address: int, count: int) -> tuple[int, ...]:
    raw = _native.read(address, 8 * count) if count else b""
    return struct.unpack(f"{count}q", raw) if raw else ()


ADAPTER = CythonMemoryviews()
