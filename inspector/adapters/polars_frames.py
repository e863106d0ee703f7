"""polars: series and frames as buffers, lazy frames as recipes, which are never resolved."""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

from inspector.adapters.base import Adapter, Column, Elements, stored, type_module, type_name
from inspector.adapters.beyond import Beyond
from inspector.adapters.holders import MOST_LAYERS
from inspector.adapters.told import DERIVED, Layer, Told, attribute, of_type, recipe
from inspector.facts.unknown import Unknown

NOT_SAID = Unknown("polars does not tell whether it is its own or shared")
BARE = ("_plr.PySeries", "_plr.PyDataFrame", "polars.PySeries", "polars.PyDataFrame")
"""The extension module of the objects in `_s` and `_df`: its name today, and in 1.0."""
COPIED = ("Object", "Categorical")
"""Types, also nested ones, without an Arrow buffer: exporting them makes new ones."""
MOST_CHUNKS = 64
MOST_COLUMNS = 64


class PolarsFrames(Adapter):
    """Exact Series, DataFrame, LazyFrame and the objects they hold, read through `_s` and `_df`."""

    library = "polars"
    versions = ("1.0", "3")
    exact = ("Series", "DataFrame", "LazyFrame", *BARE)
    links_allocator = True

    def self_test(self) -> None:
        """A slice by one element starts 8 bytes later for numbers, 16 for short strings."""
        polars = sys.modules["polars"]
        for one, apart in (polars.Series([1.0, 2.0, 3.0]), 8), (polars.Series(["a", "b", "c"]), 16):
            whole, later = self.elements(one)[:1], self.elements(one[1:])[:1]
            if whole and later[0].address - whole[0].address != apart:
                raise ValueError("PySeries.to_numpy_view is not what it was, or __arrow_c_stream__")
        if not self.elements(polars.Series([1.0])):
            raise ValueError("PySeries.to_numpy_view gives no view")

    def elements(self, x: Any) -> tuple[Elements, ...]:
        """The values of each chunk: of null rows the bytes mean nothing. What NumPy has no view of (texts,
        truths, dates, lists, categories) is where Arrow's C stream tells; of Python objects nothing is told.
        """
        return tuple(
            block
            for _, column in self._columns(x)
            for block in _values(column) or _codes(column) or _exported(column)
        )

    def unseen(self, x: Any) -> bool:
        """A series that polars copies for export, or cannot export (before 1.3)."""
        series = _series(x)
        return series is not None and bool(series.len()) and not self.elements(x)

    def parts(self, x: Any) -> Iterator[tuple[str, Any]]:
        """A frame's columns, lazily."""
        frame = _frame(x)
        for position in range(frame.width() if frame is not None else 0):
            column = sys.modules["polars"].Series._from_pyseries(frame.to_series(position))
            yield column.name, column

    def columns(self, x: Any, most: int) -> tuple[tuple[Column, ...], int, int] | None:
        """A frame's first columns; each is a block of its own."""
        frame = _frame(x)
        if frame is None:
            return None
        total = frame.width()
        return tuple(_column(frame.to_series(n), n) for n in range(min(most, total))), total, total

    def owns(self, x: Any) -> bool | Unknown:
        """Unknown: Arrow buffers are counted in Rust."""
        return False if type_name(type(x)) == "LazyFrame" else NOT_SAID

    def beyond(self, x: Any, found: Beyond) -> None:
        """Unknown how much: buffers are counted in Rust."""
        found.why = "polars counts in Rust what its frames share"

    def names(self, x: Any) -> tuple[tuple[str, str], ...]:
        """Chunks, nulls, and polars' estimate of its size."""
        series = _series(x)
        if series is None:
            return ()
        chunks, nulls = len(series.chunk_lengths()), series.null_count()
        return (("n_chunks", str(chunks)), ("null_count", str(nulls)))

    def layers(self, x: Any) -> Told:
        """A LazyFrame is a recipe; explain() and collect_schema() may open files and are not called."""
        kind = type_name(type(x))
        if kind == "LazyFrame":
            return recipe("LazyFrame", "collect()", of_type(kind), also=("sink_parquet()",))
        columns = self._columns(x)
        shown = columns[: MOST_LAYERS - 1]
        frame = _frame(x)
        width = 1 if frame is None else frame.width()
        what = kind if frame is None else f"DataFrame {frame.height(), width}"
        wrapper = Layer("wrapper", what, title=NOT_SAID, would_not=("repr", "slice", "clone()"))
        below = tuple(_layer(name, column) for name, column in shown)
        bytes_ = (_series(x) if frame is None else frame).estimated_size() if width < 1000 else None
        size = Unknown(f"{width:,} columns are not summed") if bytes_ is None else bytes_
        whole = Unknown("polars does not tell how large the buffers of a slice are")
        return Told((wrapper, *below), DERIVED, size, whole, layers_left_out=width - len(below))

    def _columns(self, x: Any) -> tuple[tuple[str, Any], ...]:
        """(name, PySeries) of a frame's first columns, or of the series itself."""
        if (series := _series(x)) is not None:
            return ((series.name(), series),)
        frame = _frame(x)
        many = range(frame.width() if frame is not None else 0)
        found = (frame.to_series(n) for n in islice(many, MOST_COLUMNS))
        return tuple((one.name(), one) for one in found)


def _series(x: Any) -> Any:
    """The PySeries of a Series, or `x` itself if it is one; else None."""
    return x if type_name(type(x)) == "PySeries" else stored(x, "_s")


def _frame(x: Any) -> Any:
    """The PyDataFrame of a DataFrame, or `x` itself if it is one; else None."""
    return x if type_name(type(x)) == "PyDataFrame" else stored(x, "_df")


def _values(series: Any) -> tuple[Elements, ...]:
    """The values of each chunk, by a view that is dropped at once; () if polars would copy."""
    from inspector.adapters.numpy_arrays import ADAPTER as NUMPY

    chunks = [series] if series.n_chunks() == 1 else series.get_chunks()[:MOST_CHUNKS]
    views = (_series(chunk).to_numpy_view() for chunk in chunks)
    return tuple(block for view in views if view is not None for block in NUMPY.elements(view))


def _codes(series: Any) -> tuple[Elements, ...]:
    """The codes of each chunk of categories, by polars' own pointer: exporting would make new ones."""
    if not series.len() or not str(series.dtype()).startswith("Categorical"):
        return ()
    chunks = [series] if series.n_chunks() == 1 else map(_series, series.get_chunks()[:MOST_CHUNKS])
    physical = getattr(getattr(series.dtype(), "categories", None), "physical", None)
    bits = str(physical()).removeprefix("UInt") if physical is not None else "32"
    size, kind = int(bits) // 8, type_name(type(series))
    return tuple(
        Elements(
            "as_single_ptr", chunk.as_single_ptr(), (chunk.len(),), (size,), size, f"u{size}", f"<u{size}",
            True, kind,
        )
        for chunk in chunks
        if chunk.len()
    )  # fmt: skip


def _exported(series: Any) -> tuple[Elements, ...]:
    """The values by Arrow's C stream; () for types that polars copies for export, and before polars 1.3."""
    from inspector.adapters.arrow_blocks import blocks

    export = getattr(series, "__arrow_c_stream__", None)
    if export is None or not series.len() or any(word in str(series.dtype()) for word in COPIED):
        return ()
    return blocks(export(None), type_name(type(series)))


def _column(series: Any, position: int) -> Column:
    blocks = _values(series) if series.n_chunks() <= MOST_CHUNKS else ()
    said = _type(series, blocks)
    return Column(series.name(), said, blocks or _codes(series) or _exported(series), position, NOT_SAID, 0)


def _layer(name: str, series: Any) -> Layer:
    blocks, nulls = _values(series), series.null_count()
    chunks = f", {series.n_chunks()} chunks" if series.n_chunks() > 1 else ""
    return Layer(
        "buffer",
        f"{name} {_type(series, blocks)}{chunks}",
        title=NOT_SAID,
        evidence=(
            attribute("n_chunks()", series.n_chunks()),
            attribute("null_count()", nulls),
            attribute("to_numpy_view()", "a view" if blocks else "None: it would copy"),
        ),
        would=("rechunk()", "to_numpy()") if chunks else ("to_numpy()",) if nulls or not blocks else (),
        spans=tuple(block.range for block in blocks if block.range.bytes),
        depth=1,
    )


def _type(series: Any, blocks: tuple[Elements, ...]) -> str:
    """The element type by NumPy's name, else polars' own; for a user's extension type only its class."""
    if blocks:
        return blocks[0].format
    dtype = series.dtype()
    kind = dtype if isinstance(dtype, type) else type(dtype)
    return str(dtype) if type_module(kind).startswith("polars.") else type_name(kind)


ADAPTER = PolarsFrames()
