"""Objects that the adapter `dask_graphs` is tried on."""

# SPDX-License-Identifier: MIT
import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd


def samples():
    """Arrays, frames, bags and delayed values: lazy, persisted, mixed."""
    lazy = da.ones((10, 10), chunks=5) + 1
    there = lazy.persist(scheduler="sync")
    yield from (lazy, there, da.concatenate([there, lazy]), da.from_array(np.arange(6.0), chunks=3))
    frame = dd.from_pandas(pd.DataFrame({"a": [1, 2, 3]}), npartitions=2)
    yield from (frame, frame["a"], frame.index, frame.persist(scheduler="sync"))
    yield from (dask.delayed(1), dask.delayed(1) + 2, db.from_sequence([1, 2]), lazy[lazy[:, 0] > 0])
