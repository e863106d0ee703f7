"""Elements of structured arrays, and one of its own."""

# SPDX-License-Identifier: MIT
from typing import Any

import numpy as np


def samples() -> list[Any]:
    table = np.zeros(3, [("a", "i4"), ("b", "f8")])
    return [table[1], np.void(b"abcd"), table.view(np.recarray)[1]]
