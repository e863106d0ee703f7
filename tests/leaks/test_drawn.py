"""How verdicts read where little is known of them."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import sys

import pytest
import specimens

import inspector

pytestmark = pytest.mark.core

SOURCE = r"""
#include <Python.h>
#include <stdlib.h>
#include <string.h>
static void *volatile used;
__attribute__((noinline)) void *take_a_block(size_t length) {
    used = memset(malloc(length), 1, length);
    return used;
}
__attribute__((noinline)) int lose_it(void) {
    int first = *(volatile char *)take_a_block(200);
    used = NULL;
    return first;
}
static PyObject *lose(PyObject *self, PyObject *unused) { return PyLong_FromLong(lose_it()); }
"""


def test_a_frame_without_a_line_names_its_function_once() -> None:
    nolines = specimens.build("nolines", SOURCE, flags=("-g0", "-fno-optimize-sibling-calls"))
    told = inspector.leaks("nolines").run(nolines.lose).report.to_text()
    rows = [line for line in told.splitlines() if "called it" in line]
    assert rows, told
    for row in rows:
        name = row.split()[1]
        assert row.split().count(name) == 1, row


def test_a_builtin_that_run_calls_is_told_with_the_line_of_run() -> None:
    nolines = specimens.build("nolines", SOURCE, flags=("-g0", "-fno-optimize-sibling-calls"))
    found = inspector.leaks("nolines")
    line = sys._getframe().f_lineno + 1
    told = found.run(nolines.lose).report.to_text()
    assert f"test_drawn.py:{line}" in told and "leaked.py" not in told
