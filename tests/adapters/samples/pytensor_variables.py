"""Objects that the adapter `pytensor_variables` is tried on."""

# SPDX-License-Identifier: MIT
import os
import tempfile
from pathlib import Path

os.environ.setdefault("PYTENSOR_FLAGS", f"cxx=,compiledir={Path(tempfile.gettempdir()) / 'pytensor'}")
import numpy as np
import pytensor
import pytensor.tensor as pt


def samples():
    """A graph, shared variables that borrow and copy, a constant, a compiled function, a container."""
    x, array = pt.dvector("x"), np.ones(3)
    yield from (x, x * 2, pt.constant(np.ones(3)))
    yield from (pytensor.shared(array, borrow=True), pytensor.shared(array), pytensor.shared(array).container)
    function = pytensor.function([x], x * 2, mode="FAST_COMPILE")
    function(array)
    yield function
