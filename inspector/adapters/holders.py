"""Objects that keep their bytes in ndarrays of their own: sparse matrices, awkward layouts, images."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from inspector._native import Subject
from inspector.adapters.base import Defaults, Elements, type_name
from inspector.facts.unknown import Unknown
from inspector.objects.classes import type_bases

if TYPE_CHECKING:
    from inspector.adapters.told import Evidence, Layer, Told
    from inspector.facts.materialization import Title

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
        return all(whose(array)[0] == "owned" for array in alone)

    def text(self, block: Elements, raw: bytes) -> str | Unknown:
        """One number, as NumPy prints it."""
        from inspector.adapters.numpy_arrays import ADAPTER as NUMPY

        return NUMPY.text(block, raw)

    def stack(self, x: Any, wrapper: Layer, **said: Any) -> Told:
        """A wrapper over a buffer layer for each array; further words go to Told."""
        from inspector.adapters.told import Told

        found = [(name, Subject(array)) for name, array in self._few(x)]
        below = tuple(buffer_layer(name, box) for name, box in found[: MOST_LAYERS - 1])
        return Told((wrapper, *below), layers_left_out=len(found) - len(below), **said)

    def _few(self, x: Any) -> tuple[tuple[str, Any], ...]:
        return tuple(islice(self.held(x), MOST_HELD))


def is_array(x: Any) -> bool:
    """Whether it is an ndarray or of a subclass, whose C struct is the same: memmap."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and any(base is numpy.ndarray for base in type_bases(type(x)))


def blocks(array: Any) -> tuple[Elements, ...]:
    """The block of an array; nothing for other things."""
    from inspector.adapters.numpy_arrays import ADAPTER as NUMPY

    return NUMPY.elements(array) if is_array(array) else ()


def whose(box: Subject, spare: int = 0) -> tuple[Title, Evidence]:
    """Who frees the bytes of the ndarray in a box, to which the object that keeps it refers once.

    Its own where nobody else holds it, nor any array it is a view of: they all go when it goes. `spare` is
    how many references more the object's own caches have. No name of the caller may stand for the array
    meanwhile: each would be one holder more.
    """
    from inspector.adapters.told import field

    others = 0
    for _ in range(MOST_BASES):
        others = others or max((box.refcount() or 1) - 1 - spare, 0)
        base = _base(box)
        if base is None or not is_array(base.get()):
            break
        box = base
    else:
        return "foreign", field("PyArray_BASE", f"more than {MOST_BASES} bases")
    title, said = _of_stranger(base) if base is not None else _of_root(box)
    if not others or title == "borrowed":
        return title, said
    return "foreign", also_held(others)


def also_held(others: int) -> Evidence:
    """That `others` references beside the object's own keep the same array."""
    from inspector.adapters.told import field

    return field("also held by", f"{others} other{'' if others == 1 else 's'}")


def _of_root(box: Subject) -> tuple[Title, Evidence]:
    """The same for an array without a base, if nobody else held it."""
    from inspector.adapters.told import field

    owns = _owns(box)
    return ("owned" if owns else "borrowed"), field("OWNDATA", "yes" if owns else "no, and no base")


def _of_stranger(base: Subject) -> tuple[Title, Evidence]:
    """The same for bytes of an object that is no array: its own adapter says whether it keeps them alive."""
    from inspector.adapters.registry import adapter_of
    from inspector.adapters.told import field

    name, step = type_name(type(base.get())), base.get()
    for _ in range(MOST_BASES):
        adapter = adapter_of(type(step))
        if adapter is None or adapter.owns(step) is not False:
            break
        held = adapter.holds(step)
        if not held:
            return "borrowed", field("PyArray_BASE", f"{name}, which owns nothing")
        step = held[0][1]
    return "foreign", field("PyArray_BASE", name)


def _base(box: Subject) -> Subject | None:
    base = stored_base(box.get())
    return None if base is None else Subject(base)


def _owns(box: Subject) -> bool:
    from inspector.adapters.numpy_arrays import ADAPTER as NUMPY

    return NUMPY.owns(box.get()) is True


def buffer_layer(name: str, box: Subject, depth: int = 1, spare: int = 0) -> Layer:
    """The layer of the ndarray in a box: its type, whose bytes it shows, where they lie."""
    from inspector.adapters.told import Layer

    title, evidence = whose(box, spare)
    (block,) = blocks(box.get())
    place = block.range
    return Layer(
        "buffer",
        f"{name} {block.format} {block.shape}",
        storage="heap" if place.bytes else "none",
        title=title,
        evidence=(evidence,),
        spans=(place,) if place.bytes else (),
        depth=depth,
    )


def stored_base(array: Any) -> Any:
    """PyArray_BASE of an array."""
    from inspector.adapters.numpy_arrays import ADAPTER as NUMPY

    return next((base for _, base in NUMPY.holds(array)), None)


def owner_address(array: Any) -> int:
    """Address of the object at the end of an array's bases; 0 for what is no array."""
    if not is_array(array):
        return 0
    for _ in range(MOST_BASES):
        base = stored_base(array) if is_array(array) else None
        if base is None:
            break
        array = base
    return id(array)
