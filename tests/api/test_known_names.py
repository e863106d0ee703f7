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
    assert inspect(x).buffer.holders[-1].name == "big"
    report = inspect(x, known={id(big): "large"})
    assert report.buffer.holders[-1].name == "large"
    assert "A view of large: elements 3 to 6." in report.to_text()
    assert "inside large (8.0 kB)" in report.drawn(everything=True).to_text()


def test_an_owner_without_a_name_has_the_one_of_an_array_that_shows_all_of_it() -> None:
    whole = np.arange(1000.0).reshape(100, 10)
    x = whole[3]
    (base,) = inspect(x).buffer.holders
    assert (base.name, base.shown_by, base.shape) == ("ndarray", "whole", (100, 10))
