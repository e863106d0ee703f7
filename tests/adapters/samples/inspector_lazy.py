"""Objects that the adapter `inspector_lazy` is tried on."""

# SPDX-License-Identifier: MIT
import numpy as np

from inspector import lazy


def samples():
    """Lazy, in part, materialized, shared with a duplicate."""
    yield from (lazy.abs(np.arange(10.0)), lazy.arange(5), lazy.abs(np.arange(0.0)))
    done = lazy.abs(np.arange(100_000.0))
    np.asarray(done)
    yield done
