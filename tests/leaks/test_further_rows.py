"""Faults of functions of the C API that had no row: each was told by several runs at most."""

# SPDX-License-Identifier: MIT
import colorsys
from typing import Any

import pytest
import specimens

import inspector

pytestmark = pytest.mark.core
SOURCE = r"""
#include <Python.h>
static PyStructSequence_Field fields[] = {{"first", ""}, {"second", ""}, {NULL, NULL}};
static PyStructSequence_Desc described = {"further.Pair", "", fields, 2};
static PyObject *pair(PyObject *self, PyObject *one) {
    static PyTypeObject *kind;
    kind = kind ? kind : PyStructSequence_NewType(&described);
    PyObject *made = PyStructSequence_New(kind);
    PyStructSequence_SetItem(made, 0, one); // fault: borrowed
    PyStructSequence_SetItem(made, 1, Py_NewRef(Py_None));
    return made;
}
static PyObject *gone(PyObject *self, PyObject *reference) { return Py_NewRef(Py_None); }
static PyMethodDef gone_def = {"gone", gone, METH_O, NULL};
static PyObject *watch(PyObject *self, PyObject *one) {
    PyObject *callback = PyCFunction_New(&gone_def, NULL); // fault: never released
    return PyWeakref_NewRef(one, callback);
}
static PyObject *names(PyObject *self, PyObject *unused) {
    PyObject *module = PyImport_AddModule("colorsys");
    PyObject *copy = PyDict_Copy(PyModule_GetDict(module));
    Py_DECREF(module); // fault: it was borrowed
    return copy;
}
"""
HELD = [colorsys] * 9


@pytest.mark.parametrize(
    ("name", "kind", "given"),
    [
        ("pair", "borrowed reference stolen", lambda: ["held"]),
        ("watch", "leaked", lambda: {1}),
        ("names", "over-released", None),
    ],
)
def test_it_is_told_at_the_first_call(name: str, kind: str, given: Any) -> None:
    module = specimens.build("further", SOURCE)
    kept = [given()] * 9 if given else []
    with inspector.leaks("further") as found:
        getattr(module, name)(*kept[:1])
    assert [(one.kind, one.method) for one in found.certain] == [(kind, f"further.{name}")]
