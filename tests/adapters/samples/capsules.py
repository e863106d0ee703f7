"""Objects that the adapter `capsules` is tried on."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

import numpy as np

LIBRARY = ""


def samples() -> Iterator[Any]:
    """A C API, a DLPack capsule before and after it was taken over."""
    yield datetime.datetime_CAPI
    yield np.arange(3.0).__dlpack__()
