"""Objects that the adapter `numpy_arrays` is tried on."""

# SPDX-License-Identifier: MIT
import numpy as np


def samples():
    """Owners, views, orders, strides of 0, types without numbers, NumPy's own holders."""
    x = np.arange(24, dtype="i4").reshape(4, 6)
    yield from (x, x.T, x[::-1, ::2], x[:0], np.array(3.5), np.asfortranarray(x))
    yield np.broadcast_to(x[0], (3, 6))
    yield from (np.array([None, []], object), np.zeros(3, [("a", "f8"), ("b", "i1")]), np.zeros(3, ">f4"))
    yield from (np.array(["text", ""]), np.zeros(2, "M8[s]"), np.frombuffer(b"bytes", "u1"))
    windows = np.lib.stride_tricks.sliding_window_view(x[0], 2)
    yield from (windows, windows.base, np.ma.array([1, 2], mask=[0, 1]), np.zeros(3).view(np.recarray))
