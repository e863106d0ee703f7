"""Objects that the adapter `capsules` is tried on."""

# SPDX-License-Identifier: MIT
import datetime

import numpy as np


def samples():
    """A C API, a DLPack capsule before and after it was taken over."""
    yield datetime.datetime_CAPI
    yield np.arange(3.0).__dlpack__()
