"""Variables of a data set bound anew, columns set as attributes, and arrays that are still computed."""

# SPDX-License-Identifier: MIT
from typing import Any

import numpy as np
import one_line
import pytest

LIBRARIES = pytest.mark.libraries
XARRAY = """
x = xr.Dataset({'a': ('t', np.arange(500.) + 0.5), 'b': ('t', np.arange(500.) * 3)})
y = xr.Dataset({'a': ('t', np.arange(500.) * 7)})
"""
OF_XARRAY = {
    "x['a'] = y['a']": ("a", "view", "y"),
    "x['c'] = y['a']": ("c", "view", "y"),
    "x['a'] = x['a'] * 2": ("a", "new values", "x"),
    "x['a'].values = y['a'].values": ("a", "view", "y"),
    "x['c'] = y['a'].copy()": ("c", "copied", "y"),
}
PANDAS = """
df = pd.DataFrame({'x': np.random.default_rng(1).random(500), 's': ['a'] * 500})
shallow = df.copy(deep=False)
wide = pd.DataFrame(np.random.default_rng(1).random((500, 3)), columns=list('xyz'))
"""
OF_PANDAS = {
    "df.x += 1": ("x", "new values", "df"),  # pandas 2 adds in place, and copies the column then
    "df.x = df.x.to_numpy() * 2": ("x", "new values", "df"),
    "del wide['x']": ("", "no bytes", ""),
    "wide.pop('x')": ("", "no bytes", ""),
    "wide[['x', 'y']] = wide[['y', 'x']].to_numpy()": ("x, y", "copied", "wide"),
}
JAX = """
s = jnp.ones((1500, 1500)) / 1500; later = s @ s @ s @ s
"""
OF_JAX = {
    "c = np.asarray(later)": ("c", "view", "later"),
    "c = later @ s @ s @ s": ("c", "unknown", ""),
    "c = later": ("c", "same object", "later"),
    "later.block_until_ready()": ("", "same object", ""),
}


def said(setup: str, line: str, names: dict[str, Any]) -> tuple[str, str, str]:
    row = one_line.row(one_line.traced(setup, line, {"np": np, **names}))
    return row.target, row.verdict, row.of


@LIBRARIES
@pytest.mark.parametrize("line", OF_XARRAY)
def test_a_variable_of_a_data_set(line: str) -> None:
    xr = pytest.importorskip("xarray", reason="cannot be installed")
    assert said(XARRAY, line, {"xr": xr}) == OF_XARRAY[line]


@pytest.mark.parametrize(
    "line",
    [pytest.param(one, marks=pytest.mark.newest if one == "df.x += 1" else LIBRARIES) for one in OF_PANDAS],
)
def test_a_column_as_an_attribute(line: str) -> None:
    pd = pytest.importorskip("pandas", reason="cannot be installed")
    assert said(PANDAS, line, {"pd": pd}) == OF_PANDAS[line]


@pytest.mark.newest
@pytest.mark.parametrize("line", OF_JAX)
def test_an_array_that_becomes_ready_meanwhile_was_not_changed(line: str) -> None:
    jax = pytest.importorskip("jax", reason="cannot be installed")
    assert said(JAX, line, {"jnp": jax.numpy}) == OF_JAX[line]
