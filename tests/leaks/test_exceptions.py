"""A result that comes with an exception set: told with the function, whatever the result is."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import pytest
import specimens

import inspector

pytestmark = [pytest.mark.core, pytest.mark.quick]

SOURCE = r"""
#include <Python.h>
static PyObject *with_exception(PyObject *self, PyObject *result) {
    PyErr_SetString(PyExc_ValueError, "left behind");
    return Py_NewRef(result);
}
static PyObject *a_new_one(PyObject *self, PyObject *items) {
    PyObject *made = PySequence_List(items);
    PyErr_SetString(PyExc_ValueError, "left behind");
    return made;
}
"""


@pytest.mark.parametrize(
    "items", [7, "text", [[1], {2: 3}], (1.5, (x for x in "ab"))], ids=lambda x: type(x).__name__
)
@pytest.mark.parametrize("function", ["with_exception", "a_new_one"])
def test_a_result_with_an_exception_set_is_told(function: str, items: object) -> None:
    left = specimens.build("left_exception", SOURCE)
    if function == "a_new_one":
        items = [items]
    with inspector.leaks("left_exception") as found:
        getattr(left, function)(items)
    (one,) = found.verdicts
    assert (one.kind, one.method, one.certain) == (
        "result with an exception set",
        f"left_exception.{function}",
        True,
    )
