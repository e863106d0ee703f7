"""xarray: a variable as a chain of lazy wrappers down to a file, a dask array or an ndarray."""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

from inspector._native import Subject
from inspector.adapters.base import stored, type_module, type_name
from inspector.adapters.holders import MOST_HELD, MOST_LAYERS, Holder, blocks, buffer_layer, is_array
from inspector.adapters.told import Layer, Told, of_type
from inspector.facts.unknown import Unknown

MOST_WRAPPERS = 8
MOST_VARIABLES = 64
_INNER = ("array", "_data", "_ndarray")
"""Attributes of the wrapped object: in xarray's wrappers, a pandas index, a pandas extension array."""


class XarrayVariables(Holder):
    """Exact Dataset, DataArray, Variable, IndexVariable; a user's array behind them is named, not asked."""

    library = "xarray"
    versions = ("2024.7", "2027")
    exact = ("Dataset", "DataArray", "Variable", "IndexVariable")

    def self_test(self) -> None:
        """The ndarray behind a DataArray is found, the same object; `fastpath`: else dask is imported."""
        xarray, array = sys.modules["xarray"], sys.modules["numpy"].zeros(2, "f8")
        whole = xarray.DataArray(xarray.Variable(("x",), array, fastpath=True), {}, indexes={}, fastpath=True)
        if next((found for _, found in self.held(whole)), None) is not array:
            raise ValueError("DataArray._variable._data is not what it was")

    def held(self, x: Any) -> Iterator[tuple[str, Any]]:
        """The ndarray at the end of each variable's chain."""
        for name, variable in _variables(x):
            yield from ((name, one) for one in _chain(variable) if is_array(one))

    def holds(self, x: Any) -> tuple[tuple[str, Any], ...]:
        """Its arrays, and those of the indices by which a lazy variable will read."""
        indices = ((f"{name}.key", one) for name, each in _variables(x) for one in _indices(each))
        return (*self._few(x), *islice(indices, MOST_HELD))

    def layers(self, x: Any) -> Told:
        """Whether each variable ends in a file, a graph or memory."""
        found = list(islice(_variables(x), MOST_VARIABLES))
        stacks = [_stack(name, variable) for name, variable in found]
        values = {layer.value for stack in stacks for layer in stack[:1]}
        value: Any = values.pop() if len(values) == 1 else "partial" if values else "computed"
        lazy = isinstance(value, Unknown) or value in ("lazy", "partial")
        where = {layer.storage for stack in stacks for layer in stack[:1]}
        wrapper = Layer(
            "wrapper",
            type_name(type(x)),
            value=value,
            storage=where.pop() if len(where) == 1 else "heap",
            would=("load()", "x.values", "a reduction: it keeps the whole variable") if lazy else (),
            would_not=("repr", "a slice", "x.shape", "x.nbytes"),
        )
        below = [layer for stack in stacks for layer in stack]
        shown = tuple(below[: MOST_LAYERS - 1])
        waits = "load()" if lazy else ""
        sizes = [_bytes(variable) for _, variable in found]
        unknown = next((size for size in sizes if isinstance(size, Unknown)), None)
        known = sum(size for size in sizes if not isinstance(size, Unknown))
        total = known if unknown is None else unknown
        left = len(below) - len(shown)
        return Told((wrapper, *shown), logical_bytes=total, waits_for=waits, layers_left_out=left)


def _bytes(variable: Any) -> int | Unknown:
    """Bytes of all elements by shape and dtype, from NumPy, xarray's own wrappers or a dask array."""
    first: Any = next(_chain(variable), None)
    module = type_module(type(first))
    if is_array(first):
        return sum(block.size * block.itemsize_bytes for block in blocks(first))
    if not module.startswith(("xarray.", "dask.")):
        return Unknown(f"{type_name(type(first))} is not asked for its size")
    total = first.dtype.itemsize
    for length in first.shape:
        total = total * length if type(length) is int else -1
    return int(total) if total >= 0 else Unknown("known when it is computed")


def _variables(x: Any) -> Iterator[tuple[str, Any]]:
    """(name, Variable) of each variable of a Dataset, or of the object itself."""
    many = stored(x, "_variables")
    if type(many) is dict:
        yield from (
            (name if type(name) is str else f"[{n}]", one) for n, (name, one) in enumerate(many.items())
        )
    else:
        yield "values", stored(x, "_variable", x)


def _chain(variable: Any) -> Iterator[Any]:
    """The objects that a variable wraps, from the outside in."""
    inner = stored(variable, "_data")
    for _ in range(MOST_WRAPPERS):
        if inner is None:
            return
        yield inner
        if is_array(inner) or not type_module(type(inner)).startswith(("xarray.", "pandas")):
            return
        inner = next((one for name in _INNER if (one := stored(inner, name)) is not None), None)


def _indices(variable: Any) -> Iterator[Any]:
    """The arrays in the `key` of each lazy wrapper: `isel` by arrays keeps them until it reads."""
    for wrapper in _chain(variable):
        key = stored(stored(wrapper, "key"), "_key")
        yield from (one for one in key or () if is_array(one)) if type(key) is tuple else ()


def _stack(name: str, variable: Any) -> list[Layer]:
    """The layers of one variable: its chain in one line, and the end of the chain."""
    chain = [Subject(one) for one in _chain(variable)]
    if not chain:
        return [Layer("container", name, Unknown("it wraps nothing that is known"), depth=1)]
    end = chain[-1]
    there = is_array(end.get())
    if len(chain) == 1 and there:
        return [buffer_layer(name, end)]
    value, storage, title = _end(end.get())
    said = " > ".join(type_name(type(one.get())) for one in chain)
    top = Layer("container", name, value, storage, title, (of_type(said),), depth=1)
    return [top, buffer_layer(name, end, depth=2)] if there else [top]


def _end(end: Any) -> tuple[Any, Any, Any]:
    """(value, storage, title) of the end of a chain."""
    from inspector.adapters.registry import adapter_of

    if is_array(end):
        return "computed", "heap", "owned"
    module = type_module(type(end))
    if module.startswith("xarray.backends"):
        return "lazy", "remote/on disk", "foreign"
    if module.startswith("pandas"):
        return "computed", "heap", "foreign"
    adapter = adapter_of(type(end))
    first = adapter.layers(end).layers[:1] if adapter is not None else ()
    if first:
        return first[0].value, first[0].storage, "foreign"
    unknown = Unknown(f"no adapter knows {type_name(type(end))}")
    return unknown, unknown, unknown


ADAPTER = XarrayVariables()
