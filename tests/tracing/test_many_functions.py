"""Thousands of Python functions that lead to one function of C, as pybind11's do."""

# SPDX-License-Identifier: MIT
from typing import Any

import pytest
import specimens

from inspector import _native

COUNT = 9000
"""More rows than those among which none is looked for again (REUSED_FROM in native/trace/arm/calls.c)."""
MAKE = """
#include <Python.h>
static PyObject *same(PyObject *self, PyObject *one) { return Py_NewRef(one); }
static PyObject *make(PyObject *self, PyObject *count) {
    long n = PyLong_AsLong(count);
    PyMethodDef *rows = calloc((size_t)n, sizeof *rows); // never freed: a function needs its row
    PyObject *made = PyList_New(n);
    for (long i = 0; i < n; i++) {
        rows[i] = (PyMethodDef){"same", same, METH_O, NULL};
        PyList_SET_ITEM(made, i, PyCFunction_New(&rows[i], self));
    }
    return made;
}
"""


@pytest.mark.core
def test_their_trampolines_serve_others_once_they_are_disarmed() -> None:
    module: Any = specimens.build("trace_same", MAKE)
    numbers = []
    for _ in range(2):
        numbers.append(_native.methods_arm(module.make(COUNT)))
        _native.calls_disarm()
    assert len(set(numbers[0])) == COUNT and min(numbers[0]) >= 0
    assert set(numbers[1]) == set(numbers[0])


@pytest.mark.core
def test_each_is_hooked_while_all_others_are() -> None:
    module: Any = specimens.build("trace_same", MAKE)
    some, others = module.make(COUNT), module.make(COUNT)
    try:
        numbers = _native.methods_arm(some) + _native.methods_arm(others)
        assert len(set(numbers)) == 2 * COUNT and min(numbers) >= 0
        assert others[-1]("x") == "x" == some[0]("x")
    finally:
        _native.calls_disarm()
    assert _native.calls_armed() == 0
