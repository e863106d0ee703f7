"""Objects that the adapter `xarray_variables` is tried on."""

# SPDX-License-Identifier: MIT
import os
import tempfile

import dask.array as da
import numpy as np
import xarray as xr


def samples():
    """In memory, over dask, with indexes, and from a file."""
    array = xr.DataArray(np.arange(6.0).reshape(2, 3), dims=("x", "y"), coords={"x": [1, 2]})
    yield from (array, array.variable, array.x.variable, array.to_dataset(name="v"), xr.Dataset())
    yield from (xr.DataArray(da.ones((4, 4), chunks=2)), xr.DataArray(3.0), array[:0], array.T)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "v.nc")
        array.to_dataset(name="v").to_netcdf(path, engine="h5netcdf")
        with xr.open_dataset(path, engine="h5netcdf") as opened:
            yield from (opened, opened.v, opened.v[1:])
