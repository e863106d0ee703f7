"""Base class for objects that keep their bytes in ndarrays: sparse matrices, awkward layouts, images."""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

from inspector._native import Subject
from inspector.adapters.base import Adapter, Elements, type_name
from inspector.adapters.told import Evidence, Layer, Told, field
from inspector.facts.amounts import counted
from inspector.facts.materialization import Title
from inspector.facts.unknown import Unknown
from inspector.objects.classes import type_bases

MOST_HELD = 256
"""Arrays of one object that are inspected at most."""
MOST_LAYERS = 16
"""Layers shown; the rest is counted."""
MOST_BASES = 4
"""Longest chain of bases that is followed; NumPy and pandas make at most two."""


class Holder(Adapter):
    """Answers derived from the arrays that an object holds; an adapter returns them in `held`."""

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
        """Whether only this object holds its arrays, and they own their bytes."""
        alone = [Subject(array) for _, array in self._few(x)]
        return all(whose(array)[0] == "owned" for array in alone)

    def text(self, block: Elements, raw: bytes) -> str | Unknown:
        """One number, as NumPy prints it."""
        from inspector.adapters.numpy_arrays import ADAPTER as NUMPY

        return NUMPY.text(block, raw)

    def stack(self, x: Any, wrapper: Layer, **said: Any) -> Told:
        """A wrapper over a buffer layer for each array; `said` is passed to Told."""
        found = [(name, Subject(array)) for name, array in self._few(x)]
        below = tuple(buffer_layer(name, box) for name, box in found[: MOST_LAYERS - 1])
        return Told((wrapper, *below), layers_left_out=len(found) - len(below), **said)

    def _few(self, x: Any) -> tuple[tuple[str, Any], ...]:
        return tuple(islice(self.held(x), MOST_HELD))


def is_array(x: Any) -> bool:
    """Whether it is an ndarray or of a subclass (memmap), which has the same C struct."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and any(base is numpy.ndarray for base in type_bases(type(x)))


def blocks(array: Any) -> tuple[Elements, ...]:
    """The block of an array; () for anything else."""
    from inspector.adapters.numpy_arrays import ADAPTER as NUMPY

    return NUMPY.elements(array) if is_array(array) else ()


def whose(box: Subject, spare: int = 0) -> tuple[Title, Evidence]:
    """(title, evidence) of the bytes of the ndarray in a box; its holder has one reference to it.

    "owned" if nothing else holds the array or one it is a view of: all are freed with the holder. `spare`
    is the number of further references from the holder's caches. The caller must not hold the array in a
    variable meanwhile: it would count as one more holder.
    """
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
    """Evidence that `others` more references than the holder's own keep the array."""
    return field("also held by", counted(others, "other"))


def _of_root(box: Subject) -> tuple[Title, Evidence]:
    """(title, evidence) for an array without a base, as if nothing else held it."""
    owns = _owns(box)
    return ("owned" if owns else "borrowed"), field("OWNDATA", "yes" if owns else "no, and no base")


def _of_stranger(base: Subject) -> tuple[Title, Evidence]:
    """(title, evidence) for a base that is no array: its adapter tells if it keeps the bytes alive."""
    from inspector.adapters.registry import adapter_of

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


def buffer_layer(name: str, box: Subject, depth: int = 1) -> Layer:
    """The layer of the ndarray in a box: its type, who frees its bytes, where they are."""
    title, evidence = whose(box)
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
    """PyArray_BASE of an array, or None."""
    from inspector.adapters.numpy_arrays import ADAPTER as NUMPY

    return next((base for _, base in NUMPY.holds(array)), None)


def owner_address(array: Any) -> int:
    """Address of the object at the end of an array's bases; 0 if it is not an array."""
    if not is_array(array):
        return 0
    for _ in range(MOST_BASES):
        base = stored_base(array) if is_array(array) else None
        if base is None:
            break
        array = base
    return id(array)
