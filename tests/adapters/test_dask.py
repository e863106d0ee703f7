"""dask on the real library: lazy, persisted, mixed; no graph is written out, nothing computed."""

# SPDX-License-Identifier: MIT
from typing import Any

import numpy as np
import pytest
from asking import Look

import inspector
from inspector.facts.unknown import Unknown

pytestmark = pytest.mark.libraries


def test_lazy_persisted_and_mixed(da: Any, look: Look) -> None:
    lazy = da.ones((10, 10), chunks=5) + 1
    there = lazy.persist(scheduler="sync")
    mixed = da.concatenate([there, da.zeros((10, 10), chunks=5)])
    for x, state, blocks in (
        (lazy, "lazy", "0 of 4 blocks exist"),
        (there, "shared-foreign", "4 of 4 blocks exist"),
        (mixed, "partially materialized", "4 of 8 blocks exist"),
    ):
        told = look(x)
        seen = (told.state, told.layers[0].evidence[0].says, told.logical_bytes)
        assert seen == (state, blocks, x.nbytes)
    assert look(mixed).waits_for == "compute() of 4 of 8 blocks"
    assert look(there).waits_for == ""


def test_a_look_does_not_write_the_graph_out(da: Any, look: Look) -> None:
    x = da.ones((100, 100), chunks=1) + 1
    recipe = x.dask.layers[x.name]
    assert type(recipe).__name__ == "Blockwise" and "_cached_dict" not in vars(recipe)
    assert look(x).state == "lazy"
    assert "_cached_dict" not in vars(recipe) and x._cached_keys is None


def test_over_an_array_and_an_unknown_length(da: Any, look: Look) -> None:
    n = np.arange(10.0)
    told = look(da.from_array(n, chunks=5))
    assert told.layers[0].value == "computed"
    first = str(inspector.inspect(da.from_array(n, chunks=5))).splitlines()[:2]
    assert first[0].endswith("Array float64 (10,)")
    assert first[1].strip() == "Its 2 blocks exist already, 80 B: compute() only joins them."
    x = da.from_array(n, chunks=5)
    told = look(x[x > 3])
    assert told.state == "lazy" and isinstance(told.logical_bytes, Unknown)


def test_nothing_is_computed(da: Any, look: Look) -> None:
    ran = []
    x = da.ones(4, chunks=2).map_blocks(lambda block: ran.append(1) or block, dtype=float, meta=np.empty(0))
    assert look(x).state == "lazy" and ran == []
    assert x.compute(scheduler="sync").sum() == 4 and ran != []


def test_frames_bags_and_delayed_values(da: Any, look: Look) -> None:
    import dask
    import dask.bag
    import dask.dataframe
    import pandas as pd

    frame = dask.dataframe.from_pandas(pd.DataFrame({"a": [1, 2, 3]}), npartitions=2)
    assert look(frame + 1).state == "lazy"
    assert look((frame + 1).persist(scheduler="sync")).layers[0].value == "computed"
    assert look(dask.delayed(1) + 2).state == "lazy"
    assert look(dask.bag.from_sequence([1, 2]).map(str)).state == "lazy"


def test_many_blocks_are_bounded(da: Any, look: Look) -> None:
    x = da.ones((2000, 2000), chunks=10)
    told = look(x)
    assert isinstance(told.layers[0].value, Unknown) or told.layers[0].value == "lazy"
    assert told.logical_bytes == 32_000_000
