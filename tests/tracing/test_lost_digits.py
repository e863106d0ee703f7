"""Integers that a library makes floats of on the way, where the rows stand elsewhere than before."""

# SPDX-License-Identifier: MIT
from typing import Any

import numpy as np
import one_line
import pytest

pd = pytest.importorskip("pandas", reason="cannot be installed")

pytestmark = [pytest.mark.libraries]
BIG = 10**16 + 1
SETUP = f"""
a = pd.DataFrame({{"k": [1, 2, 3], "v": [{BIG}, 2, 3]}})
b = pd.DataFrame({{"k": [2, 1], "w": [{BIG}, 7]}})
m = pd.DataFrame({{"i": [{BIG}], "f": [0.5]}})
ids = np.array([{BIG}, 5]); w = np.array([float({BIG}), 2.0])
"""
LINES = (
    "c = a.merge(b, how='left')",
    "c = a['v'].reindex([9, 0])",
    "a = a.reindex([9, 0])",
    "a.loc[7, 'v'] = None",
    "r = m.iloc[0]",
    "r = b.assign(c=['x', 'y']).pivot(index='k', columns='c', values='w')",
    f"r = np.where([True, False], [{BIG}, 3], 0.5)",
    "r = np.where([True, False], 10**16 + 1, 0.5)",
    f"k = {BIG}; r = np.maximum(k, [0.5, 1e20])",
)
KEPT = (
    "c = a.merge(b, how='inner')",
    "c = a.reindex([1, 2, 8])",
    "c = w * 1",
    "r = np.where([True, False], 10**16, 0.5)",
    f"r = np.where([True, False], {BIG}, 3)",
    "r = np.where([True, False], 2**60, 0.5)",
    "c = w * (10**16 + 1 - 10**16)",
    "c = np.where(ids > 9, w, 0.0)",
    "w = w + ids * 0",
    "c = ids // 10",
    "c = a['v'].astype(str)",
)


def traced(line: str) -> Any:
    return one_line.traced(SETUP, line, {"pd": pd, "np": np})


def lost(t: Any) -> list[Any]:
    """What a line lost, as (rule, before, after, how many)."""
    found = [one for row in t.statements.rows for one in row.losses]
    return [(one.rule, one.before, one.after, one.lost) for one in found]


@pytest.mark.parametrize("line", LINES)
def test_an_integer_without_its_last_digits_is_told(line: str) -> None:
    t = traced(line)
    assert lost(t) == [("precision", str(BIG), repr(float(BIG)), 1)]
    assert (
        f"value changed in line {one_line.LINE}: {BIG}" in str(t).replace("values", "value").splitlines()[0]
    )


@pytest.mark.parametrize("line", KEPT)
def test_integers_that_stay_and_floats_that_were_there_are_no_loss(line: str) -> None:
    assert lost(traced(line)) == []
