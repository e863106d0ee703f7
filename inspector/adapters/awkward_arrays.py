"""awkward: an array as its tree of buffers; virtual buffers are not materialized."""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

from inspector._native import Subject
from inspector.adapters.base import stored, type_module, type_name
from inspector.adapters.holders import MOST_HELD, MOST_LAYERS, Holder, buffer_layer, is_array
from inspector.adapters.told import Layer, Told, attribute, of_type

_BUFFERS = ("_data", "_offsets", "_starts", "_stops", "_index", "_mask", "_tags")
_VIRTUAL = ("VirtualNDArray", "VirtualArray")


class AwkwardArrays(Holder):
    """ak.Array and ak.Record with the user's behaviors, which are subclasses: reads stored attributes."""

    library = "awkward"
    versions = ("2.8", "3")
    inherited = ("Array", "Record")

    def self_test(self) -> None:
        """A list of lists has two buffers; an array from a generator has none before its first use."""
        awkward = sys.modules["awkward"]
        form, length, made = awkward.to_buffers(awkward.Array([[1, 2], [], [3]]))
        later = {key: (lambda buffer=buffer: buffer) for key, buffer in made.items()}
        counts = [len(list(self.held(x))) for x in (
            awkward.from_buffers(form, length, made), awkward.from_buffers(form, length, later),
        )]  # fmt: skip
        if counts != [2, 0]:
            raise ValueError(f"the buffers of a layout are not where they were: {counts}")

    def held(self, x: Any) -> Iterator[tuple[str, Any]]:
        """Buffers that exist, named by their path in the layout."""
        return ((place, array) for place, array in _buffers(x) if array is not None)

    def layers(self, x: Any) -> Told:
        """lazy, partial or computed, by the buffers that exist."""
        found = list(islice(_buffers(x), MOST_HELD))
        there = sum(array is not None for _, array in found)
        value: Any = "computed" if there == len(found) else "partial" if there else "lazy"
        wrapper = Layer(
            "wrapper",
            f"{type_name(type(x))} of {len(found)} buffers",
            value=value,
            evidence=(attribute("buffers", f"{there} of {len(found)} exist"),),
            would=()
            if value == "computed"
            else ("ak.materialize", "an operation: only the buffers it needs"),
            would_not=("repr", "x.fields", "x.type"),
        )
        waits = "" if value == "computed" else f"{len(found) - there} buffers on first use"
        shown = [(place, Subject(array)) for place, array in found[: MOST_LAYERS - 1]]
        left = len(found) - len(shown)
        found.clear()
        below = tuple(_layer(place, box) for place, box in shown)
        return Told((wrapper, *below), waits_for=waits, layers_left_out=left)


def _layer(place: str, box: Subject) -> Layer:
    if box.get() is not None:
        return buffer_layer(place, box)
    return Layer("buffer", place, "lazy", "none", evidence=(of_type("a virtual array"),), depth=1)


def _buffers(x: Any) -> Iterator[tuple[str, Any]]:
    """(path, ndarray) of each buffer of the layout; None for a virtual buffer that does not exist yet."""
    waiting = [("", stored(x, "_layout", stored(x, "_array")))]
    while waiting:
        place, node = waiting.pop()
        for name in _BUFFERS:
            inner = stored(node, name)
            array = stored(inner, "_data", inner)
            if is_array(array):
                yield f"{place}{name[1:]}", array
            elif type_name(type(array)) in _VIRTUAL:
                made = stored(array, "_array")
                yield f"{place}{name[1:]}", made if is_array(made) else None
        waiting += _children(place, node)


def _children(place: str, node: Any) -> list[tuple[str, Any]]:
    """The children of a node in reverse order."""
    one, many = stored(node, "_content"), stored(node, "_contents")
    names = stored(node, "_fields") or range(len(many or ()))
    rows = list(zip(names, many, strict=False)) if type(many) is list else []
    if one is None and type_module(type(node)).endswith("record"):
        one = stored(node, "_array")
    inside = [] if one is None else [(f"{place}content.", one)]
    return [*inside, *((f"{place}{name}.", child) for name, child in reversed(rows))]


ADAPTER = AwkwardArrays()
