"""zarr: arrays as chunks in a store; a local store is listed, others are never contacted."""

# SPDX-License-Identifier: MIT
import os
import sys
from collections.abc import Iterator
from itertools import islice
from math import prod
from typing import Any

from inspector import _native
from inspector.adapters.base import Adapter, stored, type_name
from inspector.adapters.told import Layer, Told, attribute
from inspector.facts.unknown import Unknown

MOST_CHUNKS = 20_000
"""Most files of a store that are listed; takes 0.1 s on a local disk."""
_METADATA = ("zarr.json", ".zarray", ".zattrs", ".zgroup", ".zmetadata")


class ZarrArrays(Adapter):
    """Exact zarr.Array (zarr 3)."""

    library = "zarr"
    versions = ("3.0.8", "4")
    exact = ("Array",)

    def self_test(self) -> None:
        """The attributes on the path to the store are slots or in the instance dicts of zarr's classes."""
        names = _annotations("zarr.core.array", "AsyncArray") | _annotations(
            "zarr.storage._common", "StorePath"
        )
        if not {"metadata", "store_path", "store", "path"} <= names:
            raise ValueError("AsyncArray does not lead to its store as it did")

    def owns(self, x: Any) -> bool | Unknown:
        """False: the bytes are the store's."""
        return False

    def holds(self, x: Any) -> tuple[tuple[str, Any], ...]:
        """Its store."""
        store, _, _ = _store(x)
        return (("store", store),)

    def layers(self, x: Any) -> Told:
        """Each access reads and decodes chunks; written chunks are counted in a local store only."""
        store, path, metadata = _store(x)
        shape, total = stored(metadata, "shape"), _chunks_in_all(metadata)
        there = _written(store, path)
        kind = type_name(type(store))
        value: Any = there if isinstance(there, Unknown) else "partial" if there else "lazy"
        if there == total:
            value = "computed"
        wrapper = Layer(
            "wrapper",
            f"Array {shape}",
            value="partial" if value == "partial" else "lazy",
            storage="heap" if kind == "MemoryStore" else "remote/on disk",
            title="foreign",
            would=("x[...]", "np.asarray"),
            would_not=("repr", "x.shape", "x.nbytes"),
        )
        said = f"{there} of {total}" if type(there) is int else "not counted"
        where: Any = "heap" if kind == "MemoryStore" else "remote/on disk"
        below = Layer("container", f"chunks in a {kind}: {said}", value, where, "foreign",
                      (attribute("keys of the store", said),), depth=1)  # fmt: skip
        waits = "x[...]: each read decodes its chunks"
        state: Any = "partially materialized" if value == "partial" else "lazy"
        return Told((wrapper, below), state, _logical(metadata), waits_for=waits)


def _annotations(module: str, name: str) -> set[str]:
    kind = getattr(sys.modules.get(module), name, None)
    return set(getattr(kind, "__annotations__", ()))


def _store(x: Any) -> tuple[Any, str, Any]:
    """(store, path in it, metadata)."""
    inner = stored(x, "_async_array")
    place = stored(inner, "store_path")
    return stored(place, "store"), stored(place, "path") or "", stored(inner, "metadata")


def _chunks_in_all(metadata: Any) -> int | Unknown:
    """Number of chunks of a regular grid; with sharding, of shards."""
    grid, shape = stored(metadata, "chunk_grid"), stored(metadata, "shape")
    sizes = stored(metadata, "chunks") or stored(grid, "chunk_shape")
    if type(sizes) is not tuple or type(shape) is not tuple or len(sizes) != len(shape):
        return Unknown("its chunks do not form a regular grid")
    return int(prod(-(-length // size) if size else 0 for length, size in zip(shape, sizes, strict=True)))


def _logical(metadata: Any) -> int | Unknown:
    kind = stored(metadata, "data_type", stored(metadata, "dtype"))
    native = kind.to_native_dtype() if hasattr(type(kind), "to_native_dtype") else kind
    native = native.to_numpy() if hasattr(type(native), "to_numpy") else native
    size = getattr(native, "itemsize", 0) * prod(stored(metadata, "shape"))
    return int(size) if size or 0 in stored(metadata, "shape") else Unknown("its elements have no fixed size")


def _written(store: Any, path: str) -> int | Unknown:
    """Number of chunks in the store."""
    kind, module = type_name(type(store)), sys.modules.get("zarr.storage")
    if module is None or not _native.exactly(store, module.LocalStore, module.MemoryStore):
        return Unknown(f"a {kind} may be remote: it is not contacted")
    if kind == "MemoryStore":
        keys = list(stored(store, "_store_dict") or ())
        inside = [key[len(path) :].lstrip("/") for key in keys if key.startswith(path)]
        return sum(key.rpartition("/")[2] not in _METADATA for key in inside)
    found = sum(1 for _ in islice(_files(f"{stored(store, 'root')}/{path}"), MOST_CHUNKS + 1))
    return found if found <= MOST_CHUNKS else Unknown(f"more than {MOST_CHUNKS:,} files: not counted")


def _files(folder: str) -> Iterator[str]:
    """Files under a folder that are not metadata; nothing if it cannot be listed."""
    for _, _, names in os.walk(folder):
        yield from (name for name in names if name not in _METADATA)


ADAPTER = ZarrArrays()
