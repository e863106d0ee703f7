"""Tables of very many columns: a card shows the first ones, and costs what a card of few columns costs."""

# SPDX-License-Identifier: MIT
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import soak
from asking import Look

import inspector
from inspector.facts.parts import Part
from inspector.facts.unknown import Unknown

pytestmark = pytest.mark.libraries
FEW, MANY = 1000, 1_000_000 if soak.SOAK else 100_000
MOST_TIMES = 8
"""A cost that grew with the number of columns would be a hundred times as high."""


def of_arrow(kind: str) -> Callable[[int], Any]:
    def make(count: int) -> Any:
        pa = pytest.importorskip("pyarrow")
        names = [str(n) for n in range(count)]
        return getattr(pa, kind).from_arrays([pa.array([1.0])] * count, names=names)

    return make


KINDS: dict[str, Callable[[int], Any]] = {
    "polars": lambda count: pytest.importorskip("polars").DataFrame(np.zeros((1, count)), orient="row"),
    "pyarrow.Table": of_arrow("Table"),
    "pyarrow.RecordBatch": of_arrow("RecordBatch"),
    "pandas": lambda count: pytest.importorskip("pandas").DataFrame(np.zeros((1, count))),
}


def seconds(x: Any) -> float:
    """CPU time of a card, the least of five: another process's work is not in it."""
    found = []
    for _ in range(5):
        start = time.thread_time()
        inspector.inspect(x, name="x").to_text()
        found.append(time.thread_time() - start)
    return min(found)


@pytest.mark.parametrize("kind", KINDS)
def test_a_card_of_very_many_columns(kind: str, look: Look) -> None:
    few, many = KINDS[kind](FEW), KINDS[kind](MANY)
    look(many)
    report = inspector.inspect(many, name="x")
    assert (report.parts.total, len(report.parts.parts)) == (MANY, 40)
    assert f"{MANY:,}" in report.to_text()
    assert len(report.to_text()) < 2 * len(inspector.inspect(few, name="x").to_text()) < 20_000
    assert len(report.to_html()) < 2 * len(inspector.inspect(few, name="x").to_html()) < 600_000
    assert seconds(many) < MOST_TIMES * seconds(few)


def parts_of(x: Any) -> tuple[Part, ...]:
    found: tuple[Part, ...] = inspector.inspect(x, name="x").parts.parts
    return found


def test_columns_of_a_table(pa: Any, look: Look) -> None:
    price = np.arange(1000.0)
    table = pa.table(
        {"price": price, "kind": ["a", "b"] * 500, "one": pa.chunked_array([[1] * 400, [2] * 600])}
    )
    look(table)
    first, text, chunked = parts_of(table)
    assert (first.name, first.format, first.bytes, first.step_bytes) == ("price", "double", 8000, 8)
    assert first.owner == id(price)
    assert text.format == "string" and isinstance(text.bytes, int) and text.bytes >= 5004
    assert isinstance(text.step_bytes, Unknown)
    assert (chunked.bytes, chunked.block) == (8000, 2)
    assert "price" in inspector.inspect(table, name="table").to_text()


def test_columns_whose_bytes_are_not_summed(pa: Any, look: Look) -> None:
    one = pa.array([1])
    table = pa.table(
        {"many": pa.chunked_array([one] * 500), "wide": pa.array([{str(n): 1 for n in range(9)}] * 500)}
    )
    look(table.slice(0, 1))
    (many,) = parts_of(table.select(["many"]))
    assert isinstance(many.bytes, Unknown)
    (wide,) = parts_of(table.select(["wide"]))
    assert wide.format == "StructType of 9"


def test_columns_of_a_polars_frame(pl: Any, look: Look) -> None:
    frame = pl.DataFrame({"price": np.arange(1000.0), "kind": ["a", "b"] * 500, "day": [True, False] * 500})
    look(frame)
    price, kind, day = parts_of(frame)
    assert (price.format, price.bytes, price.step_bytes) == ("float64", 8000, 8)
    assert (kind.format, day.format) == ("String", "Boolean")
    lays_open = hasattr(frame["kind"]._s, "__arrow_c_stream__")  # since polars 1.3; texts of one letter
    assert kind.bytes == 16_000 if lays_open else isinstance(kind.bytes, Unknown)
    assert isinstance(price.holders, Unknown)


def test_no_table_has_no_columns(pa: Any, pl: Any) -> None:
    for x in (pa.array([1]), pl.Series([1]), pl.LazyFrame({"a": [1]}), pa.py_buffer(b"a")):
        assert "parts" not in inspector.inspect(x, name="x").facts
