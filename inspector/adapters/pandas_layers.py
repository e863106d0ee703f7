"""What pandas reports about materialization: blocks and holders, caches of indexes, parts of arrays."""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Iterator
from typing import Any

from inspector._native import Subject
from inspector.adapters.base import Elements, type_module, type_name
from inspector.adapters.holders import is_array, whose
from inspector.adapters.told import (
    DERIVED,
    Evidence,
    Layer,
    Told,
    attribute,
    field,
    finding,
    of_type,
)
from inspector.facts.amounts import counted, size
from inspector.facts.memory import Range
from inspector.facts.unknown import Unknown

MOST_BLOCKS = 12
"""Blocks shown; the rest is counted, and its pages are not read."""
_get = object.__getattribute__


Piece = tuple[Elements, Any, Evidence]
"""Bytes of a block, who frees them, and the evidence."""


def of_frame(x: Any, blocks: tuple[Any, ...], pieces_of: list[list[Piece]], count: int) -> Told:
    """A DataFrame or Series: wrapper, blocks, buffers. `blocks` may be cut; `count` is the whole number."""
    found = [Layer("wrapper", type_name(type(x)), evidence=(of_type(type_name(type(x))),))]
    shared = 0
    for block, pieces in zip(blocks[:MOST_BLOCKS], pieces_of, strict=False):
        holders = sum(weak() is not None for weak in block.refs.referenced_blocks)
        copies = holders > 1 and writes_copy()
        shared += sum(piece.size * piece.itemsize_bytes for piece, _, _ in pieces) if copies else 0
        found += _block(block, pieces, holders, copies)
    titles = [layer.title for layer in found]
    return Told(
        tuple(found),
        state="copy-on-write pending" if shared and "borrowed" not in titles else DERIVED,
        findings=(finding("shared-copy-on-write", _cost(shared, count)),) if shared else (),
        layers_left_out=max(count - MOST_BLOCKS, 0),
        in_words=_foreign(blocks[0].values) if count == 1 and not pieces_of[0] else "",
    )


def _foreign(values: Any) -> str:
    """Of values that another library keeps; an array of pandas without pieces is empty."""
    kind = type(values)
    if type_module(kind).partition(".")[0] in ("pandas", "numpy"):
        return ""
    return f"Its values are a `{type_name(kind)}`; where that keeps them is not known."


def _cost(shared: int, blocks: int) -> str:
    """What the first write copies: of several blocks only the one of the column that is written."""
    if blocks == 1:
        return f"the first write copies {size(shared)}"
    return "the first write to a column copies the block that the column is in"


def _block(block: Any, pieces: list[Piece], holders: int, copies: bool) -> Iterator[Layer]:
    seen = (attribute("block.refs", counted(holders, "holder")),)
    among = "cow" if copies else "view" if holders > 1 else ""
    titles = [_title(among, title) for _, title, _ in pieces]
    would = ("a write copies",) if copies else ()
    what = f"block {pieces[0][0].format if pieces else ''} {tuple(block.shape)}"
    if not pieces:
        what = f"block {type_name(type(block.values))}"
    title: Any = next((title for title in titles if title != "owned"), among or "owned")
    below = [buffer(piece, title, said) for (piece, _, said), title in zip(pieces, titles, strict=True)]
    where = below[0].storage if below else "heap"
    yield Layer("container", what, "computed", where, title, seen, would, ("len", "repr", ".head()"), depth=1)
    yield from below


def _title(among: str, alone: Any) -> Any:
    """Who frees bytes shared by `among` pandas objects; `alone` is the answer for a single holder."""
    return alone if alone == "borrowed" or not among else among


def buffer(piece: Elements, title: Any, said: Evidence, what: str = "") -> Layer:
    """A block of bytes as a layer; its mapping tells the storage."""
    spans = (piece.range,) if piece.range.bytes else ()
    storage, place = storage_of(piece.range)
    seen = (said, Evidence("address", f"{piece.address:#x}", place))
    what = what or f"{piece.exporter} {piece.format}"
    return Layer("buffer", what, "computed", storage, title, seen, spans=spans, depth=2)


def of_arrow(array: Any) -> tuple[Any, Evidence]:
    """Who frees the buffers of an Arrow array, from pyarrow's adapter."""
    from inspector.adapters.registry import adapter_of

    adapter = adapter_of(type(array))
    owns = adapter.owns(array) if adapter is not None else Unknown("no adapter knows pyarrow's arrays")
    if isinstance(owns, Unknown):
        return owns, field("C++ class", "unknown")
    return ("owned" if owns else "foreign"), field(
        "C++ class", "of Arrow's pool" if owns else "of others' bytes"
    )


def spare(x: Any) -> int:
    """References from an index's caches to its own array: the hash table, an interval index's ends."""
    cache = _cache(x)
    return sum(cache.get(name) is not None for name in ("_engine", "left"))


def storage_of(place: Range) -> tuple[Any, str]:
    """The storage of a range, and its mapping as evidence."""
    from inspector.binaries.mappings import plain_mapping

    found = plain_mapping(place) if place.bytes else Unknown("no bytes")
    if isinstance(found, Unknown):
        return "heap", found.reason
    if isinstance(found.file, Unknown):
        return ("shared-memory" if found.kind == "shared memory" else "heap"), found.kind
    return "file-mapped", f"{found.permissions} {found.file}"


def writes_copy() -> bool:
    """Whether copy-on-write is on: always from pandas 3, by option before."""
    pandas = sys.modules["pandas"]
    return not pandas.__version__.startswith("2.") or bool(pandas.get_option("mode.copy_on_write"))


def of_range(x: Any) -> Told:
    """A RangeIndex: three numbers until `.values` makes the array, which memory_usage never counts."""
    cache = _cache(x)
    made = cache.get("_data")
    seen = (attribute("x._cache['_data']", "an array" if made is not None else "absent"),)
    name = "RangeIndex"
    use, idle = (".values", "np.asarray", "get_indexer"), ("len", "x[i]", "memory_usage()")
    if made is None:
        layer = Layer("wrapper", name, "lazy", "none", "owned", seen, use, idle)
        return Told((layer,), state="virtual", logical_bytes=8 * len(_get(x, "_range")))
    wrapper = Layer("wrapper", name, "computed", "none", "owned", seen, (), idle)
    box = Subject(made)
    del made
    return Told((wrapper, *_arrays([box], "_data", spare(x))), materialized_by=".values, kept in x._cache")


def of_index(x: Any, boxes: list[Subject]) -> Told:
    """An Index: its array and its cache (a hash table, a MultiIndex's tuples)."""
    name = type_name(type(x))
    wrapper = Layer("wrapper", name, evidence=(of_type(name),))
    return Told((wrapper, *_arrays(boxes, "", spare(x)), *_tables(x, name)))


def _tables(x: Any, name: str) -> Iterator[Layer]:
    cache = _cache(x)
    engine = cache.get("_engine")  # the attribute would create it
    if engine is not None:
        full = bool(getattr(engine, "is_mapping_populated", False))
        seen = (attribute("x._cache['_engine'].is_mapping_populated", full),)
        value: Any = "computed" if full else "lazy"
        use = () if full else ("get_loc",)
        yield Layer("container", "hash table", value, "heap", "owned", seen, use, depth=1)
    if name == "MultiIndex":
        made = "_values" in cache
        seen = (attribute("x._cache['_values']", "an array of tuples" if made else "absent"),)
        value = "computed" if made else "lazy"
        where: Any = "heap" if made else "none"
        yield Layer("container", "tuples", value, where, "owned", seen, (".values",), depth=1)


def of_array(x: Any, boxes: list[Subject]) -> Told:
    """An extension array: the arrays with its elements."""
    name = type_name(type(x))
    parts = {"SparseArray": "the values that are not the fill value", "Categorical": "codes"}
    return Told((Layer("wrapper", name, evidence=(of_type(name),)), *_arrays(boxes, parts.get(name, ""))))


def _arrays(boxes: list[Subject], what: str, spare: int = 0) -> Iterator[Layer]:
    from inspector.adapters.numpy_arrays import ADAPTER as NUMPY

    for box in boxes[:MOST_BLOCKS]:
        if is_array(box.get()):
            title, said = whose(box, spare)
            (piece,) = NUMPY.elements(box.get())
            yield buffer(piece, title, said, f"{what} {piece.format} {piece.shape}".strip())


def _cache(x: Any) -> dict[str, Any]:
    try:
        cache = _get(x, "_cache")
    except AttributeError:
        return {}
    return cache if type(cache) is dict else {}
