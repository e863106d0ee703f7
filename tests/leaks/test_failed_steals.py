"""Calls that steal a reference and fail: the cure fits the path that was taken."""

# SPDX-License-Identifier: MIT
from typing import Any

import pytest
import specimens

import inspector

pytestmark = pytest.mark.core
SOURCE = r"""
#include <Python.h>
static PyObject *set(PyObject *item, int releases) {
    PyObject *list = PyList_New(1);
    if (PyList_SetItem(list, 5, item) < 0) { // steals
        PyErr_Clear();
        if (releases) Py_DECREF(item);
    }
    Py_DECREF(list);
    Py_RETURN_NONE;
}
static PyObject *new_twice(PyObject *self, PyObject *unused) { return set(PyList_New(0), 1); }
static PyObject *new_once(PyObject *self, PyObject *unused) { return set(PyList_New(0), 0); }
static PyObject *given_twice(PyObject *self, PyObject *item) { return set(Py_NewRef(item), 1); }
static PyObject *given_once(PyObject *self, PyObject *item) { return set(Py_NewRef(item), 0); }
static PyObject *borrowed(PyObject *self, PyObject *item) { return set(item, 0); }
static PyObject *not_stolen(PyObject *self, PyObject *no_module) {
    if (PyModule_AddObject(no_module, "x", PyList_New(0)) < 0) PyErr_Clear(); // fails
    Py_RETURN_NONE;
}
"""
AT = f"steals.c:{specimens.line_of(SOURCE, 'set', '// steals')}"


class Thing:
    """An item without a free list."""


@pytest.fixture(scope="module")
def steals() -> Any:
    return specimens.build("steals", SOURCE)


@pytest.mark.quick
def test_a_new_object_that_is_released_after_a_failing_steal(steals: Any) -> None:
    with inspector.leaks("steals") as found:
        steals.new_twice()
    (one,) = found.verdicts
    assert (one.kind, one.certain) == ("over-released", True)
    assert one.rule == "PyList_SetItem steals its item even when it fails"
    assert one.cure == f"no Py_DECREF(item) after {AT} fails"


@pytest.mark.parametrize("kind", [list, Thing])
def test_an_argument_that_is_released_after_a_failing_steal(steals: Any, kind: type) -> None:
    kept = (kind(),)
    with inspector.leaks("steals") as found:
        steals.given_twice(*kept)
    assert found.certain and found.verdicts[0].cure == f"no Py_DECREF(item) after {AT} fails"


def test_a_borrowed_reference_that_a_failing_call_stole(steals: Any) -> None:
    kept = ([],)
    with inspector.leaks("steals") as found:
        steals.borrowed(*kept)
    (one,) = found.verdicts  # not also as "an argument that its caller still held"
    assert (one.kind, one.certain) == ("borrowed reference stolen", True)
    assert one.cure == f"Py_INCREF(item) before it, or no Py_DECREF(item) after {AT} fails"


def test_what_a_failing_call_did_not_steal_is_to_be_released(steals: Any) -> None:
    with inspector.leaks("steals") as found:
        steals.not_stolen(3)
    (one,) = found.verdicts
    line = specimens.line_of(SOURCE, "not_stolen", "// fails")
    assert (one.kind, one.cure) == ("leaked", f"Py_DECREF(value) after steals.c:{line} fails")


def test_honest_code_that_fails_to_steal_is_not_accused(steals: Any) -> None:
    with inspector.leaks("steals") as found:
        steals.new_once()
        steals.given_once([])
        steals.given_once(Thing())
    assert found.verdicts == ()
