"""A wrapper over bytes of others does not own them: pandas over arrays, text, files and bare addresses."""

# SPDX-License-Identifier: MIT
import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fingerprints
import numpy as np
import pandas as pd
import pytest

import inspector
from inspector.facts.materialization import Materialization

pytestmark = [pytest.mark.core, pytest.mark.contract, pytest.mark.quick]


def seen(x: Any) -> Materialization:
    """The fact, after the look was found to have left everything as it was."""
    before = fingerprints.fingerprint(x)
    fact = inspector.materialization(x)
    assert fingerprints.fingerprint(x) == before
    return fact


def titles(fact: Materialization) -> set[Any]:
    return {layer.title for layer in fact.layers if layer.level == "buffer"}


NUMBERS = np.arange(100.0)
DATES = np.arange(100).astype("M8[ns]")
RAW = bytearray(800)
OVER: dict[str, Callable[[], Any]] = {
    "a Series over an ndarray": lambda: pd.Series(NUMBERS, copy=False),
    "a Series over a slice": lambda: pd.Series(NUMBERS[:3], copy=False),
    "a Series over every second": lambda: pd.Series(NUMBERS[::2], copy=False),
    "a Series over dates": lambda: pd.Series(DATES, copy=False),
    "a Series over a bytearray": lambda: pd.Series(np.frombuffer(RAW), copy=False),
    "a Series over bytes": lambda: pd.Series(np.frombuffer(b"x" * 80), copy=False),
    "a frame over a matrix": lambda: pd.DataFrame(NUMBERS.reshape(10, 10), copy=False),
    "a frame over a transposed matrix": lambda: pd.DataFrame(NUMBERS.reshape(10, 10).T, copy=False),
    "a frame over columns": lambda: pd.DataFrame({"a": NUMBERS, "b": DATES}, copy=False),
}
OWN: dict[str, Callable[[], Any]] = {
    "a copied Series": lambda: pd.Series(NUMBERS, copy=True),
    "a Series over an array that nobody else holds": lambda: pd.Series(np.arange(3.0), copy=False),
    "a Series of a list": lambda: pd.Series([1.0, 2.0]),
    "a copied frame": lambda: pd.DataFrame(NUMBERS.reshape(10, 10), copy=True),
    "a frame of columns": lambda: pd.DataFrame({"a": [1, 2], "b": [1.0, 2.0]}),
    "a concatenation": lambda: pd.concat([pd.DataFrame({"a": [1.0]}), pd.DataFrame({"a": [2.0]})]),
    "a sorted frame": lambda: pd.DataFrame({"a": [2, 1]}).sort_values("a"),
    "a transposed frame": lambda: pd.DataFrame({"a": [2, 1]}).T,
    "nullable integers": lambda: pd.Series([1, None], dtype="Int64"),
    "an index": lambda: pd.Index([1, 2, 3]),
    "a copied index": lambda: pd.Index(NUMBERS, copy=True),
    "dates": lambda: pd.date_range("2026", periods=3),
    "categories": lambda: pd.Series(["a", "b"], dtype="category"),
    "an array of dates": lambda: pd.array(pd.date_range("2026", periods=3)),
}


@pytest.mark.parametrize("name", OVER)
def test_bytes_of_others(name: str) -> None:
    made = OVER[name]()
    fact = seen(made)
    assert (fact.state, titles(fact)) == ("shared-foreign", {"foreign"})
    assert inspector.inspect(made).facts["buffer"].owns is False  # type: ignore[union-attr]


@pytest.mark.parametrize("name", OWN)
def test_bytes_of_its_own(name: str) -> None:
    fact = seen(OWN[name]())
    assert (fact.state, titles(fact), fact.findings) == ("owned", {"owned"}, ())


def test_the_last_holder_is_the_owner() -> None:
    mine = np.arange(5.0)
    series = pd.Series(mine, copy=False)
    assert seen(series).state == "shared-foreign"
    del mine
    assert seen(series).state == "owned"


def test_a_frame_that_shares_one_block_says_which() -> None:
    fact = seen(pd.DataFrame({"a": NUMBERS, "b": np.arange(100)}, copy=False))
    buffers = {layer.what.split()[-1]: layer.title for layer in fact.layers if layer.level == "buffer"}
    assert (fact.state, buffers) == ("shared-foreign", {"float64": "foreign", "int64": "owned"})


def test_an_index_and_the_tables_of_its_own() -> None:
    for index, key in ((pd.Index([1, 2]), 2), (pd.interval_range(0, 3), 0.5), (pd.Index(["a", "b"]), "b")):
        index.get_loc(key)
        assert seen(index).state == "owned", "its hash table holds its array too"


def test_a_series_over_a_mapped_file(tmp_path: Path) -> None:
    mapped = np.memmap(tmp_path / "prices.bin", "f8", "w+", shape=1000)
    fact = seen(pd.Series(mapped, copy=False))
    assert (fact.state, titles(fact), fact.logical_bytes) == ("memory-mapped", {"foreign"}, 8000)
    table = pd.DataFrame(mapped.reshape(100, 10), copy=False)
    assert (seen(table).state, seen(table).span_bytes) == ("memory-mapped", 8000)


def test_a_series_over_a_bare_address_is_borrowed() -> None:
    raw = (ctypes.c_double * 10)()
    bare = np.ctypeslib.as_array((ctypes.c_double * 10).from_address(ctypes.addressof(raw)))
    series = pd.Series(bare, copy=False)
    for one in (series, series[:5]):
        fact = seen(one)
        assert fact.state == "borrowed"
        assert "borrowed-pointer" in [found.slug for found in fact.findings]


def test_an_extension_array_that_others_hold() -> None:
    held = pd.array([1, None])
    assert seen(pd.Series(held, copy=False)).state == "view"
    assert seen(pd.Series(held, copy=True)).state == "owned"
    assert (seen(held).state, titles(seen(held))) == ("owned", {"owned"})
    assert titles(seen(pd.arrays.NumpyExtensionArray(NUMBERS))) == {"foreign"}
