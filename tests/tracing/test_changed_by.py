"""A statement that calls a function of the user's which changes an array: the trace names the function."""

# SPDX-License-Identifier: MIT
from pathlib import Path

import pytest

import inspector

pytestmark = pytest.mark.core

CHANGED_BY = """
import numpy as np

def f(a):
    a += 1

def g(a):
    a[0] = 5.0

def outer(a):
    f(a)

class C:
    def __init__(self):
        self.v = np.zeros(10)

    def up(self):
        self.v += 1

x = np.arange(1000.0)
f(x)
g(x)
r = f(x)
outer(x)
y = len(x)
c = C()
c.up()
"""


def test_a_change_in_place_names_the_function_that_made_it(tmp_path: Path) -> None:
    path = tmp_path / "changed.py"
    path.write_text(CHANGED_BY)
    with inspector.trace() as t:
        exec(compile(CHANGED_BY, str(path), "exec"), {"__name__": "__main__"})
    lines = CHANGED_BY.splitlines()
    told = {
        lines[row.site.line - 1].strip(): (row.verdict, row.of, row.reason)
        for row in t.statements.rows
        if isinstance(row.site.line, int) and row.verdict == "in place"
    }
    assert told == {
        "a += 1": ("in place", "a", ""),
        "a[0] = 5.0": ("in place", "a", ""),
        "f(a)": ("in place", "a", "by f in line 5"),
        "self.v += 1": ("in place", "self.v", ""),
        "f(x)": ("in place", "x", "by f in line 5"),
        "g(x)": ("in place", "x", "by g in line 8"),
        "r = f(x)": ("in place", "x", "by f in line 5"),
        "outer(x)": ("in place", "x", "by f in line 5"),
    }
    assert "of x, by g in line 8" in t.tree()
