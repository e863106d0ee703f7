"""dask: collections as graphs; the layers tell which blocks exist, and no layer is expanded."""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Iterator
from itertools import islice, product
from math import prod
from typing import Any

from inspector import _native
from inspector.adapters.base import Adapter, stored, type_name
from inspector.adapters.holders import MOST_LAYERS
from inspector.adapters.told import Layer, Told, attribute, of_type
from inspector.facts.unknown import Unknown

MOST_BLOCKS = 10_000
"""Blocks whose state is read; the rest is unknown."""
MOST_HOPS = 8
"""Most aliases from block to block (concatenate, persist) that are followed."""
_RECIPES = ("Task", "tuple", "Alias", "GraphNode", "List", "Dict")


class DaskGraphs(Adapter):
    """Exact collections of dask's own."""

    library = "dask"
    versions = ("2025.1", "2027")
    exact = (
        "array.Array",
        *(f"dataframe.{name}" for name in ("DataFrame", "Series", "Index")),
        *(f"bag.{name}" for name in ("Bag", "Item")),
        *(f"delayed.{name}" for name in ("Delayed", "DelayedLeaf", "DelayedAttr")),
    )

    def self_test(self) -> None:
        """Both blocks of an array over two ndarrays exist; none of its sum with 1."""
        if array := sys.modules.get("dask.array"):
            there = array.from_array(sys.modules["numpy"].zeros(4, "f8"), chunks=2)
            states = [list(_states(x)) for x in (there, there + 1)]
            if states != [["ndarray", "ndarray"], ["", ""]]:
                raise ValueError(f"the layers of a graph say {states}")

    def owns(self, x: Any) -> bool | Unknown:
        """Unknown: a graph only frees what nothing else refers to."""
        return Unknown("its blocks are objects of their own")

    def parts(self, x: Any) -> Iterator[tuple[str, Any]]:
        """The blocks that exist."""
        for place, block in _blocks(x):
            if _state(block):
                yield place, block

    def holds(self, x: Any) -> tuple[tuple[str, Any], ...]:
        """The first blocks that exist."""
        return tuple(islice(self.parts(x), MOST_LAYERS))

    def layers(self, x: Any) -> Told:
        """lazy, partial or computed, by the blocks that exist."""
        total, states = _count(x), list(islice(_states(x), MOST_BLOCKS + 1))
        there = [state for state in states if state]
        value: Any = "partial" if there else "lazy"
        if there and len(there) == len(states):
            value = "pending" if set(there) == {"Future"} else "computed"
        if len(states) > MOST_BLOCKS and not there:
            value = Unknown(f"{MOST_BLOCKS:,} of {total} blocks were inspected: none exists")
        counted = f"{len(there):,} of {total} blocks exist" if states else "an expression"
        wrapper = Layer(
            "wrapper",
            f"{type_name(type(x))}{_element(x)}",
            value=value,
            storage="heap" if there else "none",
            title=self.owns(x) if there else "owned",  # type: ignore[arg-type]
            evidence=(attribute("x.dask layers" if states else "x._expr", counted),),
            would=() if value == "computed" else ("compute()", "persist()", "len of a DataFrame"),
            would_not=("repr", "x.shape", "x.nbytes"),
        )
        shown = tuple(_layer(place, block) for place, block in islice(self.parts(x), MOST_LAYERS - 1))
        waits = "" if value == "computed" else _waits(total, len(there))
        left = max(0, len(there) - len(shown))
        size = _logical(x)
        return Told((wrapper, *shown), logical_bytes=size, waits_for=waits, layers_left_out=left)


def _waits(total: int, there: int) -> str:
    """What is waited for: of an expression of DataFrames no blocks are known before it is computed."""
    if there:
        return f"compute() of {total - there:,} of {total:,} blocks"
    return f"compute() of its {total:,} blocks" if total > 1 else "compute()"


def _layer(place: str, block: Any) -> Layer:
    """The layer of a block that exists, with the bytes its own adapter finds."""
    from inspector.adapters.registry import adapter_of

    adapter = adapter_of(type(block))
    spans = adapter.spans(block) if adapter is not None else ()
    name = type_name(type(block))
    return Layer("buffer", f"block {place}", title="foreign", evidence=(of_type(name),), spans=spans, depth=1)


def _state(value: Any) -> str:
    """Type of a block that exists; "" for a recipe."""
    name = type_name(type(value))
    return "" if value is None or name in _RECIPES else name


def _states(x: Any) -> Iterator[str]:
    return (_state(block) for _, block in _blocks(x))


def _blocks(x: Any) -> Iterator[tuple[str, Any]]:
    """(place, value in the graph) of each block; aliases are followed; None for a recipe."""
    if (expression := stored(x, "_expr")) is not None:
        layer = (
            stored(expression, "operands", [None])[0] if type_name(type(expression)) == "FromGraph" else None
        )
        found = layer.items() if type(layer) is dict else ()
        yield from ((str(key[-1]) if type(key) is tuple else "0", value) for key, value in found)
        return
    layers = stored(stored(x, "dask", stored(x, "_dask")), "layers", {})
    for key in _keys(x):
        yield str(key[1:] if type(key) is tuple else 0), _resolved(key, layers)


def _keys(x: Any) -> Iterator[Any]:
    """The keys of the output blocks, without the list that dask would cache."""
    chunks = stored(x, "_Array__chunks")
    if chunks is not None:
        name = stored(x, "_Array__name")
        yield from ((name, *place) for place in product(*(range(len(axis)) for axis in chunks)))
    elif (count := stored(x, "npartitions")) is not None:
        yield from ((stored(x, "name"), n) for n in range(count))
    elif (key := stored(x, "_key")) is not None:
        yield key


def _resolved(key: Any, layers: Any) -> Any:
    """The value in the graph under a key; None for a recipe that no layer has materialized."""
    for _ in range(MOST_HOPS):
        name = key[0] if type(key) is tuple else key
        layer = layers.get(name) if type(name) is str else None
        value = (stored(layer, "mapping") or {}).get(key)
        if type_name(type(value)) == "Alias":
            value = stored(value, "target")
        if not _native.exactly(value, tuple, str) or (type(value) is str and value not in layers):
            return stored(value, "value") if type_name(type(value)) == "DataNode" else value
        key = value
        if type(key) is tuple and any(not _native.exactly(part, str, int) for part in key):
            return None  # a task of the old form: (function, argument...)
    return None


def _count(x: Any) -> int:
    if (chunks := stored(x, "_Array__chunks")) is not None:
        return prod(len(axis) for axis in chunks)
    return sum(1 for _ in islice(_blocks(x), MOST_BLOCKS))


def _element(x: Any) -> str:
    """dtype and shape of an array, with ? for a length that is not known yet; "" for other collections."""
    chunks = stored(x, "_Array__chunks")
    if chunks is None:
        return ""
    lengths = (sum(axis) for axis in chunks)
    shape = ", ".join(f"{n}" if n == n else "?" for n in lengths)
    return f" {getattr(stored(x, '_meta'), 'dtype', '?')} ({shape}{',' if len(chunks) == 1 else ''})"


def _logical(x: Any) -> int | Unknown:
    """Bytes of all elements by shape and dtype; unknown if a chunk's length is unknown (nan)."""
    chunks = stored(x, "_Array__chunks")
    dtype = getattr(stored(x, "_meta"), "dtype", None) if type_name(type(x)) == "Array" else None
    total = getattr(dtype, "itemsize", 0)
    for axis in chunks or ():
        length = sum(axis)
        if type(length) is not int and length != length:
            return Unknown("known when it is computed: a chunk has no length yet")
        total *= length
    return int(total) if chunks is not None and dtype is not None else Unknown("known when it is computed")


ADAPTER = DaskGraphs()
