"""Frames of some ten thousand rows: what is a selection of their elements, and what only looks like one."""

# SPDX-License-Identifier: MIT
from typing import Any

import one_line
import pytest

pytestmark = pytest.mark.newest
SETUP = """
rng = np.random.default_rng(7)
n = 20_000
df = pd.DataFrame({"u": rng.integers(0, 500, n), "x": rng.normal(size=n), "y": rng.normal(size=n),
                   "c": rng.choice(["red", "green", "blue"], n)})
t = pd.DataFrame({"a": rng.normal(size=50_000), "b": rng.normal(size=50_000)})
held = t["b"]
ints = rng.integers(0, 500, n)
"""


def row(line: str) -> Any:
    names = {"np": pytest.importorskip("numpy"), "pd": pytest.importorskip("pandas")}
    return one_line.row(one_line.traced(SETUP, line, names))


@pytest.mark.parametrize(
    "line", ["r = t[t.a > 0]", "r = t['b'][t.a > 0]", "r = t.sort_values('a')", "r = t.sample(900)"]
)
def test_rows_of_a_block_of_columns_are_copied(line: str) -> None:
    """pandas keeps both columns in one block, column by column."""
    found = row(line)
    assert found.verdict == "copied" and found.reason == "the elements of t"


def test_small_integers_that_stand_among_others_are_not_theirs_for_that() -> None:
    """Lengths are all among `u`, which has each number up to 500."""
    found = row("r = df['c'].str.len()")
    assert found.verdict in ("new", "new values") and not found.certain


@pytest.mark.parametrize(
    "line", ["r = ints[rng.permutation(n)]", "r = np.r_[ints, ints]", "r = np.concatenate([ints] * 3)"]
)
def test_the_same_integers_in_another_order_or_again_are_copied(line: str) -> None:
    assert row(line).verdict == "copied"


def test_a_column_that_is_replaced_is_not_its_old_elements() -> None:
    assert row("t['a'] += 1").verdict in ("new", "new values", "in place")


@pytest.mark.parametrize("line", ["r = t.to_dict()", "r = t.to_dict('list')"])
def test_a_table_that_became_a_dict_is_copied(line: str) -> None:
    found = row(line)
    assert (found.verdict, found.copied_bytes, found.reason) == (
        "copied",
        800_000,
        "became 100,000 floats",
    )
