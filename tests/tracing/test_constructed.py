"""Numbers that a constructor was given and that its array has no room for."""

# SPDX-License-Identifier: MIT
import sys
import warnings
from typing import Any

import numpy as np
import one_line
import pytest

from inspector.facts.statements import Written
from inspector.sessions.statements.lost.constructed import given

SETUP = """
x = np.array([2**40, 5]); few = [16777217, 3]; halves = [0.5, 0.25]
"""
CTYPES = {
    "a = (ctypes.c_int * 2)(2**31, 5)": ("overflow", "2147483648", "-2147483648"),
    "a = (ctypes.c_int * 2)(*x.tolist())": ("overflow", "1099511627776", "0"),
    "a = (ctypes.c_float * 2)(*few)": ("precision", "16777217", "16777216.0"),
    "a = (ctypes.c_double * 2)(*few)": None,
    "a = (ctypes.c_float * 2)(*halves)": None,
}
OTHERS = {
    "a = torch.Tensor(few)": ("precision", "16777217", "16777216.0"),
    "a = torch.Tensor([[0.5, 16777217]])": ("precision", "16777217.0", "16777216.0"),
    "a = torch.IntTensor([2, 3])": None,
    "a = jnp.array(x)": ("overflow", "1099511627776", "0"),
    "a = jnp.asarray(np.array([2**40, 5]))": ("overflow", "1099511627776", "0"),
    "a = jnp.array(few)": None,
    "a = torch.ones(few[1])": None,
}


def lost(line: str, names: dict[str, Any]) -> tuple[str, str, str] | None:
    t = one_line.traced(SETUP, line, {"np": np, **names})
    found = [one for row in t.statements.rows for one in row.losses]
    assert len(found) <= 1
    first = str(t).splitlines()[0]
    assert ("changed in line" in first) is any(not one.is_asked_for for one in found), first
    return next(((one.rule, one.before, one.after) for one in found), None)


@pytest.mark.parametrize("line", CTYPES)
def test_of_ctypes(line: str) -> None:
    import ctypes

    assert lost(line, {"ctypes": ctypes}) == CTYPES[line]


@pytest.mark.libraries
@pytest.mark.parametrize("line", OTHERS)
def test_of_libraries(line: str) -> None:
    torch = pytest.importorskip("torch", reason="cannot be installed")
    jax = pytest.importorskip("jax", reason="cannot be installed")
    assert lost(line, {"torch": torch, "jnp": jax.numpy}) == OTHERS[line]


@pytest.mark.libraries
def test_a_category_that_is_none_is_a_null() -> None:
    pd = pytest.importorskip("pandas", reason="cannot be installed")
    names = {"pd": pd, "np": np}
    with warnings.catch_warnings(action="ignore"):  # pandas 4 will refuse it
        t = one_line.traced("s = pd.Series(['a', 'b'])", "c = pd.Categorical(s, categories=['a'])", names)
    assert "1 of 2 values changed" in str(t).splitlines()[0]


def test_long_arrays_are_compared_by_sample_and_other_arguments_are_not_read() -> None:
    import ctypes

    names: dict[str, Any] = {"np": np, "ctypes": ctypes, "f": len}
    setup = "x = np.arange(2**31, 2**31 + 200_000); "
    t = one_line.traced(setup, "a = (ctypes.c_int * x.size)(*x.tolist())", names)
    (found,) = [one for row in t.statements.rows for one in row.losses]
    assert (found.before, found.after, found.first) == (str(2**31), str(-(2**31)), 0)
    assert found.confidence == "by sample" and found.compared < found.elements == 200_000
    x, frame = np.arange(5), sys._getframe()
    texts = ("n = f(x)", "n = array(x)")
    written = [Written("f", 1, 1, text, ("n",), ("x",), "", 0, "assign") for text in texts]
    assert [given(one, frame) is not None for one in written] == [False, x.size == 5]


def test_what_a_call_probably_copied_is_not_of_no_line() -> None:
    from decimal import Decimal

    names = {"np": np, "Decimal": Decimal}
    t = one_line.traced("d = [Decimal('0.1')]", "x = np.array(d, dtype=float)", names)
    assert "no line of yours" not in str(t)


def test_bytes_in_a_list_are_no_arrays() -> None:
    t = one_line.traced("", "x = np.array([b'ab' + bytes(1), b'c'])", {"np": np})
    assert "2 Python bytes → S3" in str(t)
