"""PyUnicode_InternInPlace takes one reference and gives another; PyDict_SetDefault lends what it returns."""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Callable
from typing import Any

import pytest
import specimens

import inspector

pytestmark = [pytest.mark.core, pytest.mark.quick]
SOURCE = r"""
#include <Python.h>
static PyObject *interned_and_lost(PyObject *self, PyObject *x) {
    PyObject *text = PyUnicode_FromFormat("interned %R", x);
    PyUnicode_InternInPlace(&text); // the text that is interned already, one reference more
    return text ? Py_NewRef(Py_None) : NULL;
}
static PyObject *interned(PyObject *self, PyObject *x) {
    PyObject *text = PyUnicode_FromFormat("interned %R", x);
    PyUnicode_InternInPlace(&text);
    return text;
}
static PyObject *lent_and_interned(PyObject *self, PyObject *x) {
    PyObject *text = PyList_GetItem(x, 0); // borrowed
    PyUnicode_InternInPlace(&text); // gives the list's reference back
    return Py_NewRef(text);
}
static PyObject *owned_and_interned(PyObject *self, PyObject *x) {
    PyObject *text = Py_XNewRef(PyList_GetItem(x, 0));
    PyUnicode_InternInPlace(&text);
    return text;
}
static PyObject *default_lost(PyObject *self, PyObject *x) {
    PyObject *made = PyList_New(0), *found = PyDict_SetDefault(x, Py_None, made); // made
    return Py_XNewRef(found);
}
static PyObject *default_released(PyObject *self, PyObject *x) {
    PyObject *made = PyList_New(0), *found = PyDict_SetDefault(x, Py_None, made); // lent
    Py_XDECREF(made);
    return found; // it was lent
}
static PyObject *default_kept(PyObject *self, PyObject *x) {
    PyObject *made = PyList_New(0), *found = PyDict_SetDefault(x, Py_None, made);
    Py_XDECREF(made);
    return Py_XNewRef(found);
}
"""


@pytest.fixture
def in_place() -> Any:
    return specimens.build("in_place", SOURCE)


def line_of(text: str) -> str:
    return f"in_place.c:{SOURCE[: SOURCE.index(text)].count(chr(10)) + 1}"


TEXT = "interned "
KNOWN = [sys.intern(f"interned {number}") for number in range(1000, 1009)]
CASES = {
    # function, argument: kind, object, the comment in the line
    ("lent_and_interned", lambda: [TEXT + str(len("1234") + 1000)]): ("over-released", "str", "// borrowed"),
    ("default_lost", dict): ("leaked", "list", "// made"),
    ("default_lost", lambda: {None: 5}): ("leaked", "list", "// made"),
    ("default_released", dict): ("over-released", "list", "// lent"),
    ("default_released", lambda: {None: []}): ("over-released", "list", "// lent"),
}
HONEST = [
    ("interned", lambda: 1002),
    ("interned", lambda: -77),
    ("owned_and_interned", lambda: ["interned " + str(len("123") + 1000)]),
    ("default_kept", dict),
    ("default_kept", lambda: {None: []}),
]


@pytest.mark.parametrize(("function", "make"), CASES)
def test_a_fault_has_its_line(in_place: Any, function: str, make: Callable[[], Any]) -> None:
    kind, shown, text = CASES[function, make]
    argument = make()
    with inspector.leaks("in_place") as found:
        result = getattr(in_place, function)(argument)
    (one,) = found
    assert (one.kind, one.certain, one.method) == (kind, True, f"in_place.{function}")
    assert one.object.startswith(shown) and one.conversion.source == line_of(text)
    del result


@pytest.mark.parametrize(("function", "make"), HONEST)
def test_an_honest_use_is_not_accused(in_place: Any, function: str, make: Callable[[], Any]) -> None:
    argument = make()
    with inspector.leaks("in_place") as found:
        result = getattr(in_place, function)(argument)
    assert not found.verdicts
    del result


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="not on CPython 3.12: interned text is immortal")
def test_one_reference_more_to_a_name_that_was_there_is_told_by_several_runs(in_place: Any) -> None:
    """Many hold it, and a cache that nobody sees into: one call does not show which reference is too many."""
    with inspector.leaks("in_place") as once:
        in_place.interned_and_lost(1001)
    assert not once.verdicts
    (one,) = inspector.leaks("in_place").run(lambda: in_place.interned_and_lost(1001))
    assert (one.kind, one.certain, one.object) == ("leaked", False, f"str {KNOWN[1]!r}")
