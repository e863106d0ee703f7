"""NumPy's scalars of structured types: an element of an array, and no copy of it."""

# SPDX-License-Identifier: MIT
import sys
from typing import Any

from inspector import _native
from inspector.adapters.base import Adapter, Elements
from inspector.adapters.numpy_arrays import format_of, members_of
from inspector.facts.unknown import Unknown

_VALUE = object.__basicsize__ + 8
"""Offset of `obval` in PyVoidScalarObject (numpy/arrayscalars.h), after ob_size."""


class Voids(Adapter):
    """Exact `numpy.void` and `numpy.record`; `dtype` and `base` are fields that C code returns."""

    library = "numpy"
    versions = ("1.26", "3")
    exact = ("void", "record")

    def self_test(self) -> None:
        """An element lies where its array has it, and names the array as its base."""
        made = sys.modules["numpy"].zeros(3, "i4,f8")
        one = made[1]
        if _address(one) != made.__array_interface__["data"][0] + made.itemsize or one.base is not made:
            raise ValueError("PyVoidScalarObject does not lie as in numpy/arrayscalars.h")

    def elements(self, x: Any) -> tuple[Elements, ...]:
        """Its one element."""
        kind = x.dtype
        return (
            Elements(
                "struct fields",
                _address(x),
                (),
                (),
                kind.itemsize,
                format_of(kind),
                kind.str,
                readonly=False,
                exporter="void",
                numeric=not kind.hasobject,
                members=members_of(kind),
            ),
        )

    def holds(self, x: Any) -> tuple[tuple[str, Any], ...]:
        """The array of which it is an element."""
        return () if x.base is None else (("base", x.base),)

    def owns(self, x: Any) -> bool | Unknown:
        """Whether it is no element of an array."""
        return x.base is None


def _address(x: Any) -> int:
    return int.from_bytes(_native.read(id(x) + _VALUE, 8) or b"", "little")


ADAPTER = Voids()
