"""What pandas knows of materialization: blocks and their holders, caches of indexes, parts of arrays."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from inspector.adapters.base import Elements, type_module, type_name
from inspector.adapters.told import DERIVED, Evidence, Finding, Layer, Told, attribute, finding, of_type
from inspector.facts.memory import Range
from inspector.facts.unknown import Unknown

MOST_BLOCKS = 12
"""Blocks shown; of the rest only the number is told, their pages are not asked for."""
_get = object.__getattribute__


def of_frame(x: Any, blocks: tuple[Any, ...], elements: list[tuple[Elements, ...]], count: int) -> Told:
    """A DataFrame or Series: wrapper, blocks, buffers. `blocks` may be cut: `count` is how many there are."""
    found = [Layer("wrapper", type_name(type(x)), evidence=(of_type(type_name(type(x))),))]
    shared = 0
    for block, pieces in zip(blocks[:MOST_BLOCKS], elements, strict=False):
        holders = _alive(block)
        is_shared = holders > 1
        copies = is_shared and writes_copy()
        shared += sum(piece.size * piece.itemsize_bytes for piece in pieces) if copies else 0
        found += _block(block, pieces, holders, copies, is_shared)
    return Told(
        tuple(found),
        state="copy-on-write pending" if shared else DERIVED,
        findings=_shared(shared) if shared else (),
        layers_left_out=max(count - MOST_BLOCKS, 0),
    )


def _block(
    block: Any, pieces: tuple[Elements, ...], holders: int, copies: bool, is_shared: bool
) -> Iterator[Layer]:
    seen = (attribute("block.refs", f"{holders} holder{'' if holders == 1 else 's'}"),)
    title: Any = "cow" if copies else "view" if is_shared else "owned"
    would = ("a write copies",) if copies else ()
    what = f"block {pieces[0].format if pieces else ''} {tuple(block.shape)}"
    if not pieces:
        what = f"block {type_name(type(block.values))}"
    yield Layer(
        "container", what, "computed", "heap", title, seen, would, ("len", "repr", ".head()"), depth=1
    )
    for piece in pieces:
        yield buffer(piece, title)


def buffer(piece: Elements, title: Any = "owned", what: str = "") -> Layer:
    """A block of bytes as a layer; where it lies is said by its mapping."""
    spans = (piece.range,) if piece.range.bytes else ()
    storage, place = storage_of(piece.range)
    seen = (Evidence("address", f"{piece.address:#x}", place),)
    return Layer(
        "buffer",
        what or f"{piece.exporter} {piece.format}",
        "computed",
        storage,
        title,
        seen,
        (),
        (),
        spans,
        2,
    )


def storage_of(place: Range) -> tuple[Any, str]:
    """Where a range lies: the word, and the mapping."""
    from inspector.mappings import plain_mapping

    found = plain_mapping(place) if place.bytes else Unknown("no bytes")
    if isinstance(found, Unknown):
        return "heap", found.reason
    if isinstance(found.file, Unknown):
        return ("shared-memory" if found.kind == "shared memory" else "heap"), found.kind
    return "file-mapped", f"{found.permissions} {found.file}"


def _shared(count: int) -> tuple[Finding, ...]:
    return (finding("shared-copy-on-write", f"the first write copies {count:,} B"),)


def _alive(block: Any) -> int:
    """Holders of a block's bytes that still live: the list keeps weak references."""
    return sum(reference() is not None for reference in block.refs.referenced_blocks)


def writes_copy() -> bool:
    """Whether copy-on-write is on: always from pandas 3, by option before."""
    pandas = sys.modules["pandas"]
    return not pandas.__version__.startswith("2.") or bool(pandas.get_option("mode.copy_on_write"))


def of_range(x: Any) -> Told:
    """A RangeIndex: three numbers, until `.values` makes the array; memory_usage never counts it."""
    cache = _cache(x)
    made = cache.get("_data")
    seen = (attribute("x._cache['_data']", "an array" if made is not None else "absent"),)
    name = "RangeIndex"
    use, idle = (".values", "np.asarray", "get_indexer"), ("len", "x[i]", "memory_usage()")
    if made is None:
        return Told(
            (Layer("wrapper", name, "lazy", "none", "owned", seen, use, idle),),
            state="virtual",
            logical_bytes=8 * len(_get(x, "_range")),
        )
    wrapper = Layer("wrapper", name, "computed", "none", "owned", seen, (), idle)
    return Told((wrapper, *_arrays([made], "_data")), materialized_by=".values, kept in x._cache")


def of_index(x: Any, arrays: tuple[Any, ...]) -> Told:
    """An Index: its array, and what its cache holds: a hash table, a MultiIndex's tuples."""
    name = type_name(type(x))
    wrapper = Layer("wrapper", name, evidence=(of_type(name),))
    return Told((wrapper, *_arrays(list(arrays), ""), *_tables(x, name)))


def _tables(x: Any, name: str) -> Iterator[Layer]:
    cache = _cache(x)
    engine = cache.get("_engine")  # the attribute would make one
    if engine is not None:
        full = bool(getattr(engine, "is_mapping_populated", False))
        seen = (attribute("x._cache['_engine'].is_mapping_populated", full),)
        value: Any = "computed" if full else "lazy"
        yield Layer(
            "container", "hash table", value, "heap", "owned", seen, () if full else ("get_loc",), (), (), 1
        )
    if name == "MultiIndex":
        made = "_values" in cache
        seen = (attribute("x._cache['_values']", "an array of tuples" if made else "absent"),)
        value = "computed" if made else "lazy"
        yield Layer(
            "container", "tuples", value, "heap" if made else "none", "owned", seen, (".values",), (), (), 1
        )


def of_array(x: Any, arrays: tuple[Any, ...]) -> Told:
    """An extension array: what its elements are kept in."""
    name = type_name(type(x))
    parts = {"SparseArray": "the values that are not the fill value", "Categorical": "codes"}
    return Told(
        (Layer("wrapper", name, evidence=(of_type(name),)), *_arrays(list(arrays), parts.get(name, "")))
    )


def _arrays(arrays: list[Any], what: str) -> Iterator[Layer]:
    from inspector.adapters.numpy_arrays import ADAPTER as NUMPY

    for array in arrays[:MOST_BLOCKS]:
        if type_module(type(array)) == "numpy":
            (piece,) = NUMPY.elements(array)
            yield buffer(
                piece, "owned" if _owned(array) else "view", f"{what} {piece.format} {piece.shape}".strip()
            )


def _owned(array: Any) -> bool:
    """Whether the array's bytes are its own, or of a base that is an array too."""
    base = array.base
    return base is None or type_module(type(base)) == "numpy"


def _cache(x: Any) -> dict[str, Any]:
    try:
        cache = _get(x, "_cache")
    except AttributeError:
        return {}
    return cache if type(cache) is dict else {}
