"""Objects that the adapter `numpy_dtypes` is tried on."""

# SPDX-License-Identifier: MIT
import numpy as np


def samples():
    """With and without a field of objects."""
    yield np.dtype([("a", "i4"), ("b", "f8")])
    yield np.dtype([("a", "i4"), ("b", "O")])
