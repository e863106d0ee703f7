"""Data that comes to be is told of: cause, bytes, line; promises that none does, that nothing is copied."""

# SPDX-License-Identifier: MIT
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from refused import refused

import inspector
from inspector import _native
from inspector.errors import InspectorError
from inspector.tracing.arm import materializing

pytest_plugins = ("pytester",)


def names(rows: Any) -> list[tuple[str, str]]:
    return [(row.type_name.rpartition(".")[2], row.cause) for row in rows]


@pytest.mark.core
def test_a_lazy_vector() -> None:
    vector = inspector.lazy.arange(1000)
    with inspector.trace("numpy") as t:
        vector[3]
        np.asarray(vector)
        np.asarray(vector)
    (row,) = t.materialized
    assert row.materialized_bytes == 8000 and row.site.file == __file__ and row.ns > 0
    assert row.site.line == test_a_lazy_vector.__code__.co_firstlineno + 5
    assert "8.0 kB" in str(t) and "1 materialized" in str(t)


@pytest.mark.quick
@pytest.mark.core
def test_a_promise_names_the_call_and_the_line() -> None:
    vector = inspector.lazy.arange(1000)
    with inspector.no_materialize() as told:
        vector[3], len(vector), repr(vector)
    assert told.materialized == ()
    with refused("materialized", "8,000 bytes") as caught, inspector.no_materialize():
        np.asarray(vector)
    assert f"{__file__}:" in str(caught.value)

    @inspector.no_materialize(least_bytes=100_000)
    def small() -> Any:
        return np.asarray(inspector.lazy.arange(1000))

    assert small()[-1] == 999
    with pytest.raises(KeyError), inspector.no_materialize():
        np.asarray(inspector.lazy.arange(10))
        raise KeyError  # the block's own error is not hidden


def test_a_range_index_and_what_stood_there_before() -> None:
    original = vars(pd.RangeIndex)["_data"]
    index = pd.RangeIndex(1000)
    with inspector.no_materialize(least_bytes=10**6) as told:
        assert vars(pd.RangeIndex)["_data"] is not original
        with inspector.no_materialize(least_bytes=10**6) as inner:
            len(index), index[3]
            index.to_numpy()
            index.to_numpy()
        assert vars(pd.RangeIndex)["_data"] is not original
    assert vars(pd.RangeIndex)["_data"] is original
    assert names(told.materialized) == names(inner.materialized) == [("RangeIndex", "RangeIndex")]
    assert told.materialized[0].materialized_bytes == 8000
    assert materializing._replaced == [] and materializing._listeners == []


def marked(pytester: pytest.Pytester, mark: str, of: str, work: str, said: str) -> None:
    """Of two tests that do the same, the one without a limit fails, in these words."""
    pytester.makepyfile(
        "import inspector, numpy as np, pytest\n"
        f"@pytest.mark.{mark}({of})\ndef test_bad(): {work}\n"
        f"@pytest.mark.{mark}({of + ', ' if of else ''}least_bytes=1000)\ndef test_good(): {work}\n"
    )
    ran = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    ran.assert_outcomes(failed=1, passed=1)
    ran.stdout.fnmatch_lines([f"*{said}*"])


def test_a_marked_test_fails(pytester: pytest.Pytester) -> None:
    said = "inspector.lazy*materialized 80 bytes at *test_a_marked_test_fails.py:3"
    marked(pytester, "no_materialize", "", "np.asarray(inspector.lazy.arange(10))", said)


@pytest.mark.libraries
def test_the_libraries(tmp_path: Path) -> None:
    import dask.array
    import h5py
    import xarray
    from PIL import Image

    Image.new("RGB", (10, 20)).save(tmp_path / "x.png")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["x"] = np.arange(100.0)
        xarray.Dataset({"a": ("t", np.arange(50.0))}).to_netcdf(tmp_path / "x.nc", engine="h5netcdf")
        graph = dask.array.ones(100, chunks=50)
        image = Image.open(tmp_path / "x.png")
        data = xarray.open_dataset(tmp_path / "x.nc", engine="h5netcdf")
        with inspector.no_materialize(least_bytes=10**9) as told:
            data["a"].shape, image.size, graph.shape, file["x"].shape
        assert told.materialized == ()
        with pytest.raises(InspectorError), inspector.no_materialize() as told:
            file["x"][:50]
            data["a"].values
            image.load()
            graph.compute()
        data.close()
    causes = [cause for _, cause in names(told.materialized)]
    for cause in ("a read of the file", "xarray's cache", "Image.load", "compute"):
        assert cause in causes, causes
    reads = [row.materialized_bytes for row in told.materialized if row.cause == "compute"]
    assert reads == [800]
    assert {row.site.file for row in told.materialized} == {__file__}
    assert sys.modules["h5py"].Dataset.__getitem__.__qualname__ == "Dataset.__getitem__"


@pytest.mark.core
@pytest.mark.quick
def test_a_copy_is_named_with_its_line() -> None:
    m = np.zeros((4, 4))
    words = r"np.ascontiguousarray\(m.T\) copied 128 bytes"
    with refused("copied", words) as caught, inspector.no_copy("numpy"):
        np.ascontiguousarray(m.T)
    assert f"{__file__}:" in str(caught.value)
    assert _native.calls_armed() == 0


@pytest.mark.core
def test_what_shares_or_computes_is_let_pass() -> None:
    a = np.arange(10.0)
    with inspector.no_copy("numpy"):
        np.add(np.asarray(a), 1)
    with inspector.no_copy("numpy", least_bytes=1000):
        a.copy()


@pytest.mark.core
def test_the_blocks_own_error_comes_first() -> None:
    with pytest.raises(ZeroDivisionError), inspector.no_copy("numpy"):
        np.zeros(3).copy()
        1 / 0


@pytest.mark.core
@pytest.mark.quick
def test_a_marked_test_that_copies_fails_with_the_call(pytester: pytest.Pytester) -> None:
    marked(pytester, "no_copy", '"numpy"', "np.arange(5.0).copy()", "np.arange(5.0).copy() copied 40 bytes")
