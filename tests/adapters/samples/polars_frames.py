"""Objects that the adapter `polars_frames` is tried on."""

# SPDX-License-Identifier: MIT
import numpy as np
import polars as pl


def samples():
    """Series with and without nulls, in chunks; frames; a lazy one."""
    numbers = pl.Series("n", np.arange(6.0))
    yield from (numbers, numbers[2:], pl.concat([numbers, numbers], rechunk=False), pl.Series([1, None, 3]))
    yield from (pl.Series(values) for values in (["a", None], [True], [[1, 2], []]))
    yield pl.Series("e", [], pl.Float64)
    frame = pl.DataFrame({"a": numbers, "b": ["x"] * 6})
    yield from (frame, pl.DataFrame(), frame.lazy().select(pl.col("a") + 1), pl.scan_csv("/no/such.csv"))
