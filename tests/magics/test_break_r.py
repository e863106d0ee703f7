"""Seed 000 inside a notebook: R in the kernel's own process by rpy2, reticulate in it, one magic."""

# SPDX-License-Identifier: MIT
import sys
from pathlib import Path

import pytest
from kernels import kernel, shown

pytestmark = [pytest.mark.r, pytest.mark.timeout(400)]

R = """\
import rpy2.robjects as ro
ro.r('suppressMessages(library(reticulate)); invisible(py_config())')
"""
CELL = """\
%%inspect_break --all --preset reticulate
value = list(ro.r('py_eval("[1.5,2.5,3.5]")'))
ro.r('y <- r_to_py(c(1,2,3))')
value
"""


def test_both_backtraces_in_a_kernel_with_arguments_and_convert(tmp_path: Path) -> None:
    """C of reticulate, R's functions, C of libR, rpy2's Python, the cell: in one order, both directions."""
    with kernel(tmp_path, RETICULATE_PYTHON=sys.executable, RPY2_CFFI_MODE="ABI") as (_, client):
        assert not [said for said in shown(client, R) if "Error" in said]
        value, drawn, *_ = shown(client, CELL)
        state = "print([l.split()[1] for l in open('/proc/self/status') if l.startswith('TracerPid')], value)"
        assert shown(client, state) == ["['0'] [1.5, 2.5, 3.5]\n"]
    assert value == "[1.5, 2.5, 3.5]"
    assert "py_to_r (x=list (3 items), convert=true)" in drawn
    assert "r_to_py_cpp (x=numeric(3) 1 2 3, convert=false)" in drawn
    down, up = drawn.split(" hit 1 ")[1].split(" hit 2 ")
    order = ("C py_to_r(", "C py_eval_impl(", "R py_eval_impl", "R py_eval", "C R_tryEval", "Py R.__call__")
    assert_order(down, (*order, "Py <module> cell 3:1"))
    order = ("C r_to_py_cpp(", "C r_to_py_impl(", "R r_to_py.default", "R r_to_py", "Py R.__call__")
    assert_order(up, (*order, "Py <module> cell 3:2"))


def assert_order(drawn: str, words: tuple[str, ...]) -> None:
    """Each of these stands in the drawing, behind the one before."""
    at, flat = 0, " ".join(drawn.split())
    for word in words:
        assert word in flat[at:], (word, drawn)
        at = flat.index(word, at) + len(word)
