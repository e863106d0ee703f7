"""Objects are called by the user's names where those are given."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import numpy as np
import pytest

from inspector import inspect

pytestmark = pytest.mark.quick


def test_the_owner_of_a_views_bytes_has_the_users_name() -> None:
    big = np.zeros(1000)
    x = big[3:7]
    assert inspect(x).buffer.holders[-1].name == "ndarray"
    report = inspect(x, known={id(big): "big"})
    assert report.buffer.holders[-1].name == "big"
    assert "inside big (8.0 kB)" in report.to_text()
