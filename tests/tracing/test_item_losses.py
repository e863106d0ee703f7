"""Values that assigning items changes: fractions cut, digits rounded, with the line, before and after."""

# SPDX-License-Identifier: MIT
from typing import Any

import numpy as np
import one_line
import pytest

from inspector import _native

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


@pytest.mark.parametrize("line", ["x[0] = 0.1", "x[:2] = y[:2]", "x[0] = 1e-05 / 3"])
def test_floats_that_an_array_of_narrower_ones_rounds_are_no_headline(line: str) -> None:
    setup = "x = np.zeros(4, 'f4'); y = np.array([0.1, 0.7])"
    t = one_line.traced(setup, line, {"np": np})
    (row,) = [row for row in t.statements.rows if row.losses]
    assert row.losses[0].is_asked_for and 0 < row.losses[0].largest_error < 6e-8
    assert "changed" not in str(t)
    whole = one_line.traced("x = np.zeros(4)", "x[0] = 2**53 + 1", {"np": np})
    assert "9007199254740993 → 9007199254740992" in str(whole).splitlines()[0]


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


CALLS = "def f():\n    y = [0]; y[0] = 2.5\n    return np.array([0.5, 2.0, 3.0])\n"
STORED = (
    ("x[1:3] = v, v", "fraction", "0.5", "0", 2),
    ("x[:] = np.linspace(0, 1, 3)", "fraction", "0.5", "0", 1),
    ("x[...] = f()", "fraction", "0.5", "0", 1),
    ("x[f() > 1] = y * 3", "fraction", "4.5", "4", 1),
    ("d['n'] = f()", "fraction", "0.5", "0", 1),
    ("x[0] += 1.5", "fraction", "1.5", "1", 1),
    ("x[x == 0] = y.sum()", "fraction", "1.5", "1", 3),
    ("d['t'] = f()", "", "", "", 0),
    ("x[:2] = np.array([1.0, 2.0])", "", "", "", 0),
    ("x[f() > 1] += 2", "", "", "", 0),
    ("b[:] = [0.5, 1.5, 2.5]", "", "", "", 0),
    ("p[0] = 0.5", "", "", "", 0),
)


@pytest.mark.parametrize(("line", "rule", "before", "after", "lost"), STORED, ids=[one[0] for one in STORED])
def test_what_no_name_holds_is_seen_when_it_is_stored(
    line: str, rule: str, before: str, after: str, lost: int
) -> None:
    setup = (
        "x = np.zeros(3, int); y = np.array([1.5, 0.0]); v = 0.5; b = [0, 0, 0]; d = np.zeros(3, 'i8,f8')\n"
        "d.dtype.names = 'n', 't'; p = Own(3)\n"
    )
    own = "class Own(np.ndarray):\n    def __new__(cls, n): return np.zeros(n, 'i8').view(cls)\n"
    own += "    def __setitem__(self, key, value): super().__setitem__(key, round(value))\n"
    found = losses(CALLS + own + setup, line)
    assert [one[:4] for one in found] == ([(rule, before, after, lost)] if rule else [])


def test_a_trace_gives_the_types_their_own_store_again() -> None:
    x = np.zeros(3, int)
    assert len(losses("x = np.zeros(3, int)", "x[0] = 0.5")) == 1
    seen: list[Any] = []
    _native.stores_want(True)
    x[0] = 2
    _native.stores_watch(lambda *stored: seen.append(stored), np.ndarray)
    x[1:] = 3
    _native.stores_end()
    x[2] = 4
    assert [(one[0] is x, one[1], one[2]) for one in seen] == [(True, slice(1, None), 3)]
    assert x.tolist() == [2, 3, 4]


@pytest.mark.libraries
def test_tensors() -> None:
    torch = pytest.importorskip("torch", reason="cannot be installed")
    assert losses("x = torch.zeros(3, dtype=torch.int64)", "x[1] = 2.5", torch=torch)[0][:3] == (
        "fraction", "2.5", "2",
    )  # fmt: skip
