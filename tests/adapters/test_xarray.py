"""xarray on the real library: chains of wrappers, the cache a reduction fills, files that stay closed."""

# SPDX-License-Identifier: MIT
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from asking import Look

from inspector.facts.unknown import Unknown

pytestmark = pytest.mark.libraries


@pytest.fixture
def path(xr: Any, tmp_path: Path) -> Path:
    data = xr.Dataset({"v": (("x",), np.arange(100.0)), "w": (("x",), np.ones(100))})
    data.to_netcdf(tmp_path / "v.nc", engine="h5netcdf")
    return tmp_path / "v.nc"


def test_a_variable_of_a_file_is_lazy_until_it_is_reduced(xr: Any, look: Look, path: Path) -> None:
    with xr.open_dataset(path, engine="h5netcdf") as opened:
        told = look(opened.v)
        assert told.state == "lazy" and told.logical_bytes == 800
        chain = told.layers[1].evidence[0].says
        assert chain.startswith("MemoryCachedArray > CopyOnWriteArray > LazilyIndexedArray > H5NetCDF")
        assert look(opened.v[3:5]).logical_bytes == 16
        repr(opened), opened.v[3:5].values
        assert look(opened.v).state == "lazy", "neither repr nor a slice reads the variable"
        assert look(opened).layers[0].value == "lazy"
        opened.v.mean()
        told = look(opened.v)
        assert told.layers[0].value == "computed" and told.waits_for == ""
        assert look(opened).state == "partially materialized"


def test_memory_views_and_dask(xr: Any, da: Any, look: Look) -> None:
    n = np.arange(6.0)
    told = look(xr.DataArray(n))
    assert told.layers[1].spans[0].start == n.__array_interface__["data"][0]
    assert look(xr.DataArray(da.ones(4, chunks=2))).state == "lazy"
    assert look(xr.DataArray(3.0)).logical_bytes == 8
    assert look(xr.DataArray(n)[:0]).logical_bytes == 0
    assert look(xr.Dataset()).layers[0].value == "computed"


def test_after_close_nothing_is_opened_again(xr: Any, look: Look, path: Path) -> None:
    opened = xr.open_dataset(path, engine="h5netcdf")
    opened.close()
    path.unlink()
    assert look(opened.v).state == "lazy"


def test_an_array_of_the_users_is_not_asked(xr: Any, look: Look) -> None:
    class Duck:
        shape, dtype, ndim = (3,), np.dtype("f8"), 1

        def __array__(self, *_: Any, **__: Any) -> Any:
            raise AssertionError("asked")

        __array_function__ = __array_ufunc__ = __array__

    told = look(xr.Variable(("x",), Duck(), fastpath=True))
    assert isinstance(told.logical_bytes, Unknown) and "Duck" in told.layers[1].evidence[0].says


def test_whose_the_array_under_a_variable_is(xr: Any, look: Look, tmp_path: Path) -> None:
    mine = np.arange(100.0)
    both = xr.Dataset({"v": ("x", mine), "w": ("x", mine + 1)})
    for over in (xr.DataArray(mine), xr.Variable("x", mine[:9]), both):
        assert look(over).state == "shared-foreign"
    for own in (xr.DataArray(np.arange(9.0)), xr.Dataset({"v": ("x", np.arange(9))}), xr.DataArray(5.0)):
        assert look(own).state == "owned"
    mapped = np.memmap(tmp_path / "v.bin", "f8", "w+", shape=100)
    told = look(xr.DataArray(mapped))
    assert (told.state, told.logical_bytes, told.span_bytes) == ("memory-mapped", 800, 800)
