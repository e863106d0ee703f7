"""Objects that the adapter `cython_memoryviews` is tried on."""

# SPDX-License-Identifier: MIT
import array

import bindings
import Cython  # noqa: F401 (so that a room without it skips)
import numpy as np

made = bindings.made_by("cython")


def samples():
    """Of an array, of a strided ndarray, a part, one that a class in C keeps."""
    x = array.array("d", [1.0, 2.0, 3.0, 4.0])
    yield from (made.part(x), made.rows(np.arange(24.0).reshape(4, 6)), made.Keeper(x).give())
