"""Objects that keep their bytes in ndarrays of their own: sparse matrices, awkward layouts, images."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from inspector._native import Subject
from inspector.adapters.base import Defaults, Elements, type_name
from inspector.facts.unknown import Unknown

if TYPE_CHECKING:
    from inspector.adapters.told import Layer, Told

MOST_HELD = 256
"""Arrays of one object that are looked at."""
MOST_LAYERS = 16
"""Layers worth showing: the rest is counted."""
MOST_BASES = 4
"""NumPy and pandas make chains of at most two."""


class Holder(Defaults):
    """The answers that follow from the arrays an object holds: an adapter says which, in `held`."""

    def held(self, x: Any) -> Iterator[tuple[str, Any]]:
        """(name, array) of each exact ndarray it keeps bytes in."""
        return iter(())

    def elements(self, x: Any) -> tuple[Elements, ...]:
        """One block for each array."""
        return tuple(block for _, array in self._few(x) for block in blocks(array))

    def holds(self, x: Any) -> tuple[tuple[str, Any], ...]:
        """Its arrays, by name."""
        return self._few(x)

    def parts(self, x: Any) -> Iterator[tuple[str, Any]]:
        """Its arrays, by name."""
        return self.held(x)

    def owns(self, x: Any) -> bool | Unknown:
        """Whether it alone holds its arrays, and they own their bytes."""
        alone = [Subject(array) for _, array in self._few(x)]
        return all(array.refcount() == 1 and title(array.get()) == "owned" for array in alone)

    def text(self, block: Elements, raw: bytes) -> str | Unknown:
        """One number, as NumPy prints it."""
        from inspector.adapters.numpy_arrays import ADAPTER as NUMPY

        return NUMPY.text(block, raw)

    def stack(self, x: Any, wrapper: Layer, **said: Any) -> Told:
        """A wrapper over a buffer layer for each array; further words go to Told."""
        from inspector.adapters.told import Told

        found = self._few(x)
        below = tuple(buffer_layer(name, array) for name, array in found[: MOST_LAYERS - 1])
        return Told((wrapper, *below), layers_left_out=len(found) - len(below), **said)

    def _few(self, x: Any) -> tuple[tuple[str, Any], ...]:
        return tuple(islice(self.held(x), MOST_HELD))


def is_ndarray(x: Any) -> bool:
    """Whether it is an exact ndarray."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and type(x) is numpy.ndarray


def blocks(array: Any) -> tuple[Elements, ...]:
    """The block of an ndarray; nothing for other things."""
    from inspector.adapters.numpy_arrays import ADAPTER as NUMPY

    return NUMPY.elements(array) if is_ndarray(array) else ()


def title(array: Any) -> str:
    """Who frees an ndarray's bytes: itself, another ndarray, or another library's object."""
    from inspector.adapters.numpy_arrays import ADAPTER as NUMPY

    if NUMPY.owns(array):
        return "owned"
    bases = [base for _, base in NUMPY.holds(array)]
    if not bases:
        return "borrowed"
    return "view" if is_ndarray(bases[0]) else "foreign"


def buffer_layer(name: str, array: Any, depth: int = 1) -> Layer:
    """The layer of one ndarray: its type, whose bytes it shows, where they lie."""
    from inspector.adapters.told import Layer, field

    (block,) = blocks(array)
    whose: Any = title(array)
    bases = [type_name(type(base)) for base in (stored_base(array),) if base is not None]
    return Layer(
        "buffer",
        f"{name} {block.format} {block.shape}",
        storage="heap" if block.range.bytes else "none",
        title=whose,
        evidence=(field(f"{name}.base", bases[0] if bases else "NULL"),),
        spans=(block.range,) if block.range.bytes else (),
        depth=depth,
    )


def stored_base(array: Any) -> Any:
    """PyArray_BASE of an exact ndarray."""
    from inspector.adapters.numpy_arrays import ADAPTER as NUMPY

    return next((base for _, base in NUMPY.holds(array)), None)


def owner_address(array: Any) -> int:
    """Address of the object at the end of an ndarray's bases; 0 for what is no ndarray."""
    if not is_ndarray(array):
        return 0
    for _ in range(MOST_BASES):
        base = stored_base(array) if is_ndarray(array) else None
        if base is None:
            break
        array = base
    return id(array)
