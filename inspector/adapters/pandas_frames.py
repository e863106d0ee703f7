"""pandas: frames, series and indexes as blocks of bytes.

Columns are read through `_mgr.blocks`: `df["a"]` would create a Series, which adds a holder to the block's
copy-on-write references. Only labels of exact builtin types are shown.
"""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from inspector._native import Subject, exactly
from inspector.adapters import pandas_layers
from inspector.adapters.base import Adapter, Column, Elements, stored, type_module, type_name
from inspector.adapters.holders import also_held, is_array, owner_address, whose
from inspector.adapters.numpy_arrays import ADAPTER as NUMPY
from inspector.adapters.told import Evidence, Layer, Told
from inspector.facts.buffer import CATEGORIES
from inspector.facts.memory import Range
from inspector.facts.unknown import Unknown
from inspector.objects.classes import type_bases

_get = object.__getattribute__
_INNER = ("_ndarray", "_mask", "_codes", "_sparse_values", "_left", "_right")
"""Attributes in which pandas' own extension arrays keep their ndarrays."""
FRAMES = ("DataFrame", "Series")
MOST_CHUNKS = 64
MOST_BLOCKS = 1000
"""Blocks inspected at most; a frame built column by column has one for each column."""
ARRAYS = (
    *("Categorical", "SparseArray", "ArrowExtensionArray", "ArrowStringArray", "StringArray"),
    *("IntegerArray", "FloatingArray", "BooleanArray", "DatetimeArray", "TimedeltaArray", "PeriodArray"),
    *("IntervalArray", "NumpyExtensionArray"),
)
MOST_NAMED = 8
"""Blocks named in the facts; a frame of mixed types rarely has more."""


class PandasFrames(Adapter):
    """DataFrame and Series with their subclasses; the exact indexes and pandas' own extension arrays."""

    library = "pandas"
    versions = ("2.0", "4")
    bare = ("RangeIndex",)
    steady = (
        *("Index", "DatetimeIndex", "TimedeltaIndex", "PeriodIndex"),
        *("CategoricalIndex", "IntervalIndex", "MultiIndex"),
    )

    def types(self) -> tuple[type, ...]:
        """The indexes and arrays; a user's subclass of them may keep its bytes elsewhere."""
        pandas = sys.modules["pandas"]
        names = "Index RangeIndex DatetimeIndex TimedeltaIndex PeriodIndex CategoricalIndex"
        own = (getattr(pandas, name) for name in f"{names} IntervalIndex MultiIndex Categorical".split())
        inside = (getattr(pandas.arrays, name, None) for name in ARRAYS)
        return tuple(kind for kind in (*own, *inside) if kind is not None)

    def families(self) -> tuple[type, ...]:
        """A subclass of these keeps its blocks where pandas does: in `_mgr`."""
        pandas = sys.modules["pandas"]
        return (pandas.DataFrame, pandas.Series)

    def self_test(self) -> None:
        """Two columns share one block; a Series of one column is its second holder.

        Without texts: pandas makes them by pyarrow, which may be waiting for the import of pandas.
        """
        frame = sys.modules["pandas"].DataFrame([[1.0, 3.0], [2.0, 4.0]])
        (block,) = self.elements(frame)
        series = frame[0]
        if block.shape != (2, 2) or cow_holders(series) != 2 or len(list(self.parts(frame))) != 2:
            raise ValueError("_mgr.blocks is not what it was")

    def elements(self, x: Any) -> tuple[Elements, ...]:
        """One block for each array of each pandas block; a frame's are transposed so that rows come first."""
        turned = kind_of(x) == "DataFrame"
        found = (block for array in arrays(x) for block in _elements(array))
        return tuple(_turned(block) if turned and len(block.shape) == 2 else block for block in found)

    def referred(self, x: Any) -> tuple[Elements, ...]:
        """The categories of its columns."""
        return tuple(block for one in _categories(x) for block in self.elements(one))

    def roots(self, x: Any) -> tuple[Range, ...]:
        """The whole buffers of its Arrow arrays."""
        return tuple(span for array in arrays(x) for span in _adapter_of(array).roots(array))

    def holds(self, x: Any) -> tuple[tuple[str, Any], ...]:
        """The ndarrays of its pandas blocks."""
        return tuple(("values", array) for array in arrays(x) if is_array(array))

    def parts(self, x: Any) -> Iterator[tuple[str, Any]]:
        """A frame's columns, block by block: (label, the column's own view of the block's array)."""
        if kind_of(x) != "DataFrame":
            return
        labels = _labels(x)
        for block in _whole(x):
            for row, position in enumerate(block.mgr_locs):
                yield _label(labels, position), _row(block.values, row)

    def columns(self, x: Any, most: int) -> tuple[tuple[Column, ...], int, int] | None:
        """A frame's columns by position; only the first MOST_BLOCKS blocks are inspected."""
        if kind_of(x) != "DataFrame" or _mgr_of(x) is None:
            return None
        labels, found = _labels(x), _blocks(x)
        places = [
            (position, number, row)
            for number, block in enumerate(found[:MOST_BLOCKS])
            for row, position in enumerate(islice(block.mgr_locs, most))
        ]
        first = sorted(places)[:most]
        columns = (_column(_label(labels, at), found[number], number, row) for at, number, row in first)
        return tuple(columns), len(labels), len(found)

    def owns(self, x: Any) -> bool | Unknown:
        """Whether nothing else holds its arrays or their bases: they are freed with it."""
        boxes = [Subject(array) for array in arrays(x) if is_array(array)]
        spare = pandas_layers.spare(x)
        return all(whose(box, spare)[0] == "owned" for box in boxes) and cow_holders(x) <= 1

    def names(self, x: Any) -> tuple[tuple[str, str], ...]:
        """Blocks, and how many objects share them copy-on-write."""
        if type_name(type(x)) == "RangeIndex":
            made = "_data" in _attribute(x, "_cache", {})
            return (
                ("RangeIndex", str(x._range)),
                ("materialized", "yes" if made else "no: a range has no bytes"),
            )
        kept = tuple((CATEGORIES, str(len(one))) for one in _categories(x))
        if kind_of(x) not in FRAMES:
            return kept
        blocks = [_title(block) for block in islice(_blocks(x), MOST_NAMED)]
        return (("blocks", ", ".join(blocks) or "none"), ("copy-on-write", _copy_on_write(x)), *kept)

    def encoded(self, x: Any) -> tuple[str, tuple[int, ...]] | None:
        """The dtype and shape of the extension array that keeps all its values, if it is pandas' own."""
        values = _extension(x)
        shape = (1,) if kind_of(x) == "DataFrame" else ()
        return None if values is None else (str(values.dtype), (*values.shape, *shape))

    def layers(self, x: Any) -> Told:
        """From pandas_layers: blocks with their holders, caches of indexes."""
        told, meant = self._layers(x), None if kind_of(x) == "DataFrame" else self.encoded(x)
        if meant is None:
            return told
        first = replace(told.layers[0], what=f"{type_name(type(x))} {meant[0]} {meant[1]}")
        return replace(told, layers=(first, *told.layers[1:]))

    def _layers(self, x: Any) -> Told:
        name = type_name(type(x))
        if name == "RangeIndex":
            return pandas_layers.of_range(x)
        if kind_of(x) in FRAMES:
            if _mgr_of(x) is None:
                why = Unknown(f"{name} keeps no blocks of pandas in `_mgr`")
                return Told((Layer("wrapper", name, why, why, why),), state=why)
            blocks = _blocks(x)
            pieces = [_of_block(block) for block in blocks[: pandas_layers.MOST_BLOCKS]]
            return pandas_layers.of_frame(x, blocks, pieces, len(_whole(x)))
        boxes = [Subject(array) for array in arrays(x)]
        return pandas_layers.of_array(x, boxes) if name in ARRAYS else pandas_layers.of_index(x, boxes)

    def text(self, block: Elements, raw: bytes) -> str | Unknown:
        """One number, as NumPy prints it."""
        return NUMPY.text(block, raw)


def arrays(x: Any) -> tuple[Any, ...]:
    """The ndarrays and Arrow chunks in which a pandas object keeps its bytes."""
    name = kind_of(x)
    if name == "RangeIndex":
        return ()
    if name in FRAMES:
        return tuple(array for block in _blocks(x) for array in _inner(block.values))
    if name in ARRAYS:
        return tuple(_inner(x))
    if name == "MultiIndex":
        codes = (code for code in list.__iter__(_get(x, "_codes")) if is_array(code))
        return (*codes, *(array for level in list.__iter__(_get(x, "_levels")) for array in arrays(level)))
    return tuple(_inner(_get(x, "_data")))


def _categories(x: Any) -> Iterator[Any]:
    """The index of categories of each of its columns that has some."""
    in_blocks = kind_of(x) in FRAMES
    kept = [block.values for block in _blocks(x)] if in_blocks else [x, stored(x, "_data")]
    dtypes = (_attribute(one, "_dtype") for one in kept if _is_known(type(one)))
    found = (_attribute(one, "_categories") for one in dtypes if _is_known(type(one)))
    yield from (one for one in found if _is_known(type(one)))


def _extension(x: Any) -> Any:
    """Pandas' own extension array that keeps all its values, not as NumPy does; None if there is none."""
    name = kind_of(x)
    if name in FRAMES:
        found = [block.values for block in _blocks(x)]
    else:
        found = [x] if name in ARRAYS else [stored(x, "_data")]
    if len(found) != 1 or is_array(found[0]) or not _is_known(type(found[0])):
        return None
    return None if isinstance(found[0].dtype, sys.modules["numpy"].dtype) else found[0]


def holds_plain_array(x: Any) -> bool:
    """Whether a Series or an exact Index keeps its values in one ndarray, not as codes or under a mask."""
    name = kind_of(x)
    if name == "Series":
        return all(is_array(block.values) for block in _blocks(x))
    return name == "Index" and is_array(_get(x, "_data"))


def kind_of(x: Any) -> str:
    """The name of its class in pandas; of a user's subclass that of its first base there."""
    bases = (base for base in type_bases(type(x)) if type_module(base).partition(".")[0] == "pandas")
    return type_name(next(bases, type(x)))


def _mgr_of(x: Any) -> Any:
    """The object that keeps the blocks of a frame or series; None if a subclass has something else there."""
    found = stored(x, "_mgr")
    return found if _is_known(type(found)) else None


def _whole(x: Any) -> tuple[Any, ...]:
    found = _mgr_of(x)
    return () if found is None else _get(found, "blocks")


def _blocks(x: Any) -> tuple[Any, ...]:
    return tuple(_whole(x)[:MOST_BLOCKS])


def _labels(x: Any) -> Any:
    found = _mgr_of(x)
    return () if found is None else _get(found, "axes")[0]


def _of_block(block: Any) -> list[tuple[Elements, Any, Evidence]]:
    """Each piece of a block's bytes, who frees it, and the evidence."""
    boxes = [Subject(array) for array in _inner(block.values)]
    shared = (Subject(block.values).refcount() or 1) - 1 if not is_array(block.values) else 0
    rows = [(box, *_whose(box, shared)) for box in boxes]
    return [(piece, title, said) for box, title, said in rows for piece in _elements(box.get())]


def _whose(box: Subject, shared: int) -> tuple[Any, Evidence]:
    """Who frees an array of a block; others hold `shared` references to its extension array."""
    if not is_array(box.get()):
        return pandas_layers.of_arrow(box.get())
    if shared:
        return "view", also_held(shared)
    return whose(box)


def _inner(values: Any) -> Iterator[Any]:
    """The arrays inside one of pandas' own extension arrays."""
    if is_array(values):
        yield values
    elif _is_known(type(values)):
        data = stored(values, "_data")  # in pandas 2 a property of Arrow's arrays, which warns
        inner = {id(one): one for one in (data, *(_attribute(values, name) for name in _INNER))}
        for one in inner.values():  # each once: a Categorical's `_codes` are its `_ndarray`
            if is_array(one) or (one is data and one is not None):
                yield from _inner(one)
        chunks = getattr(_attribute(values, "_pa_array"), "chunks", ())
        yield from chunks[:MOST_CHUNKS]


def _attribute(x: Any, name: str, otherwise: Any = None) -> Any:
    try:
        return _get(x, name)
    except AttributeError:
        return otherwise


def _adapter_of(array: Any) -> Adapter:
    """NumPy's, or pyarrow's, which is imported for such an array only."""
    if is_array(array):
        return NUMPY
    from inspector.adapters.pyarrow_buffers import ADAPTER as ARROW

    return ARROW


def _elements(array: Any) -> Iterator[Elements]:
    yield from _adapter_of(array).elements(array)


def _turned(block: Elements) -> Elements:
    return replace(block, shape=block.shape[::-1], strides_bytes=block.strides_bytes[::-1])


def _row(values: Any, row: int) -> Any:
    """A column's own view of a block of several; a user's subclass of ndarray is not indexed."""
    numpy = sys.modules["numpy"]
    if not exactly(values, numpy.ndarray, numpy.memmap) or values.ndim == 1:
        return values
    return values[row]


def _column(name: str, block: Any, number: int, row: int) -> Column:
    """One column of a block, by the column's own view of the block's array."""
    values = _row(block.values, row)
    elements = tuple(found for array in _inner(values) for found in _elements(array))
    return Column(name, _dtype(block), elements, number, _holders(block), owner_address(block.values))


def _is_known(kind: type) -> bool:
    """Whether a class is from pandas or NumPy; its module is "pandas" or "pandas.core..."."""
    return type_module(kind).partition(".")[0] in ("pandas", "numpy")


def _dtype(block: Any) -> str:
    """The dtype as pandas prints it; for a foreign array class only its name, without running its code."""
    kind = type(block.values)
    return str(block.values.dtype) if _is_known(kind) else type_name(kind)


def _title(block: Any) -> str:
    """A block's dtype and shape; for a foreign array class only its name, without running its code."""
    return f"{_dtype(block)} {tuple(block.shape)}" if _is_known(type(block.values)) else _dtype(block)


def cow_holders(x: Any) -> int:
    """How many pandas blocks share the bytes of its most shared block, itself included."""
    if kind_of(x) not in FRAMES:
        return 1
    return max(map(_holders, _blocks(x)), default=1)


def _holders(block: Any) -> int:
    return sum(reference() is not None for reference in block.refs.referenced_blocks)


def _copy_on_write(x: Any) -> str:
    """What the next write does; in pandas 2 copy-on-write is an option, off by default."""
    pandas, holders = sys.modules["pandas"], cow_holders(x)
    if holders <= 1:
        return "1 holder: a write copies nothing"
    if pandas.__version__.startswith("2.") and not pandas.get_option("mode.copy_on_write"):
        return f"off: a write shows in {holders} holders"
    return f"{holders} holders: the first write copies"


def _label(labels: Any, position: int) -> str:
    """A column's label if showing it runs no user code; else its position."""
    label = labels[position]
    return str(label) if exactly(label, str, int, float, bool) else f"[{position}]"


ADAPTER = PandasFrames()
