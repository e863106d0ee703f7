"""Objects that the adapter `pandas_frames` is tried on."""

# SPDX-License-Identifier: MIT
import pandas as pd


def samples():
    """Mixed blocks, their columns, indexes."""
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0], "c": ["x", "y"], 7: [1, 2]})
    frame["d"] = pd.Categorical(["u", "v"])
    frame["e"] = pd.array([1, None], dtype="Int64")
    yield from (frame, frame["a"], frame["d"], frame.index, frame.columns, pd.DataFrame())
    yield pd.date_range("2026-01-01", periods=3)
