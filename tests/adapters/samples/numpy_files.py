"""Objects that the adapter `numpy_files` is tried on."""

# SPDX-License-Identifier: MIT
import io

import numpy as np


def samples():
    """Open and closed, fresh and finished."""
    content = io.BytesIO()
    np.savez(content, a=np.arange(3))
    for closed in (False, True):
        made = np.load(io.BytesIO(content.getvalue()))
        if closed:
            made.close()
        yield made
    over = np.nditer([np.arange(2)])
    list(over)
    yield from (np.nditer([np.arange(3)]), over)
    shut = np.nditer([np.arange(2)])
    shut.close()
    yield shut
    yield np.arange(6).reshape(2, 3).flat
