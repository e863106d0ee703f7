"""Values that assigning items changes: fractions cut, digits rounded, with the line, before and after."""

# SPDX-License-Identifier: MIT
from typing import Any

import numpy as np
import one_line
import pytest

pytestmark = [pytest.mark.core, pytest.mark.filterwarnings("ignore::RuntimeWarning")]
INTS = "x = np.zeros(10, int); y = np.linspace(0, 1, 10); k = 3; mask = y > 0.5"
LOSSES = (
    ("x[0] = 2.7", "fraction", "2.7", "2", 1),
    ("x[-1] = -0.5", "fraction", "-0.5", "0", 1),
    ("x[k] = k / 2", "fraction", "1.5", "1", 1),
    ("x[:] = y", "fraction", "0.1111111111111111", "0", 8),
    ("x[2:5] = y[2:5]", "fraction", "0.2222222222222222", "0", 3),
    ("x[mask] = 1.5", "fraction", "1.5", "1", 5),
    ("x[[1, 2]] = 0.25", "fraction", "0.25", "0", 2),
    ("x[0] = 2.0", "", "", "", 0),
    ("x[0] = 7", "", "", "", 0),
)


def losses(setup: str, line: str, **names: Any) -> Any:
    """What a line lost, as (rule, before, after, how many, line)."""
    t = one_line.traced(setup, line, {"np": np, **names})
    return [
        (one.rule, one.before, one.after, one.lost, one.site.line)
        for row in t.statements.rows
        for one in row.losses
    ]


@pytest.mark.parametrize(("line", "rule", "before", "after", "lost"), LOSSES, ids=[one[0] for one in LOSSES])
def test_items_of_an_array_of_ints(line: str, rule: str, before: str, after: str, lost: int) -> None:
    assert losses(INTS, line) == ([(rule, before, after, lost, one_line.LINE)] if rule else [])


def test_items_of_narrower_types() -> None:
    setup = "x = np.zeros(4, 'f4'); u = np.zeros(4, 'u1'); y = np.array([0.1, 300.0, 1e300, 2.0])"
    assert losses(setup, "x[:1] = y[:1]")[0][:2] == ("precision", "0.1")
    assert losses(setup, "x[2:] = y[2:]")[0][:3] == ("overflow", "1e+300", "inf")
    ((rule, before, _, lost, _),) = losses(setup, "u[:2] = y[:2]")
    assert (rule, lost) == ("overflow", 2) or (before, lost) == ("0.1", 2)


def test_texts_that_an_array_has_no_room_for() -> None:
    setup = "x = np.array(['ab', 'cd']); y = np.array(['q', 'longer']); s = np.array([b'ab'])"
    assert losses(setup, "x[1] = 'xyz'") == [("cut", "'xyz'", "'xy'", 1, one_line.LINE)]
    assert losses(setup, "x[:] = y") == [("cut", "'longer'", "'lo'", 1, one_line.LINE)]
    assert losses(setup, "s[0] = b'abc'")[0][:3] == ("cut", "b'abc'", "b'ab'")
    assert losses(setup, "x[0] = 'z'") == []


def test_fields_of_an_array_of_structs() -> None:
    setup = "x = np.zeros(3, dtype=[('n', int), ('t', 'f8')]); y = np.array([1.5, 2.0, 3.0])"
    assert losses(setup, "x['n'] = y") == [("fraction", "1.5", "1", 1, one_line.LINE)]
    assert losses(setup, "x['n'][2] = 0.5") == [("fraction", "0.5", "0", 1, one_line.LINE)]
    assert losses(setup, "x['t'] = y") == []


def test_elements_that_one_call_changed_in_two_ways_are_counted_together() -> None:
    setup = "x = np.array([1.0, float('nan'), 3e20])"
    t = one_line.traced(setup, "y = x.astype('int64')", {"np": np})
    assert str(t).strip().startswith("2 of 3 values changed in line")


def test_a_line_that_raises_loses_nothing() -> None:
    setup = "x = np.arange(9)"
    t = f"{setup}\ndef f():\n    try:\n        x[0] = float('nan')\n    except ValueError:\n        pass"
    assert losses(t, "f()") == []
    assert losses(setup + "; v = 0.5", "x[1:3] = v, v") == []  # a tuple's code is not read


@pytest.mark.libraries
def test_tensors() -> None:
    torch = pytest.importorskip("torch", reason="cannot be installed")
    assert losses("x = torch.zeros(3, dtype=torch.int64)", "x[1] = 2.5", torch=torch)[0][:3] == (
        "fraction", "2.5", "2",
    )  # fmt: skip
