"""Values that hold an operand's bytes as another type, and values that equal an operand by chance."""

# SPDX-License-Identifier: MIT
from typing import Any

import numpy as np
import one_line
import pytest

pytestmark = pytest.mark.core


def row(setup: str, line: str) -> Any:
    """The row of a statement that binds r."""
    return one_line.row(one_line.traced(setup, line, {"np": np}))


def test_bytes_read_as_another_type_are_a_copy() -> None:
    ints = "x = np.random.default_rng(5).integers(0, 1 << 60, 1000)"
    assert row(ints, "r = np.frombuffer(x.tobytes(), dtype=float)").verdict == "copied"
    assert row("x = np.zeros(1000, int)", "r = np.zeros(1000)").verdict == "new"
    assert row(ints, "r = x * 1.5").verdict == "new values"


def test_what_was_computed_equals_an_operand_only_probably() -> None:
    found = row("x = np.random.default_rng(5).random(1000)", "r = np.ma.power(x, 1)")
    assert (found.verdict, found.certain) == ("copied", False)
    found = row("x = np.random.default_rng(5).random(1000)", "r = x.copy()")
    assert (found.verdict, found.certain) == ("copied", True)


def test_times_in_another_unit_have_one_reason_and_no_advice() -> None:
    found = row("x = np.arange(200_000).astype('M8[ns]')", "r = x.astype('M8[s]')")
    assert (found.verdict, found.reason) == ("copied", "its times are written in the unit that was asked for")
    assert found.losses and found.instead == ""
