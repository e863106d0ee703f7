"""An object of a static type that was never given to PyType_Ready, as f2py's `fortran` was in NumPy 1."""

# SPDX-License-Identifier: MIT
import numpy as np
import pytest
import specimens

import inspector

pytestmark = pytest.mark.core
SOURCE = """
#include <Python.h>
static void bare_dealloc(PyObject *self) { PyObject_Free(self); }
static PyTypeObject unready = {
    .ob_base = {PyObject_HEAD_INIT(&PyType_Type) 0},
    .tp_name = "unready.Bare",
    .tp_basicsize = sizeof(PyObject),
    .tp_dealloc = bare_dealloc,
};
static PyObject *make(PyObject *self, PyObject *unused) {
    PyObject *made = PyType_HasFeature(&unready, Py_TPFLAGS_READY) ? NULL : PyObject_Malloc(sizeof *made);
    return made ? PyObject_Init(made, &unready) : PyErr_NoMemory();
}
"""


def test_it_is_seen_like_any_other() -> None:
    bare = specimens.build("unready", SOURCE).make()
    kept = [bare]
    found = inspector.owners(bare)
    assert {owner.key for owner in found.owners} >= {"bare"} and len(found.owners) == 2, kept
    assert "unready.Bare" in str(inspector.inspect(bare).drawn(everything=True))
    assert "unready.Bare" in str(inspector.inspect(type(bare)))


def test_it_stands_in_nobody_s_way() -> None:
    bare = specimens.build("unready", SOURCE).make()
    row = np.arange(8.0)
    view = row[2:]
    assert inspector.aliases(row, names={id(view): "view", id(bare): "bare"}).rows
    assert inspector.heap().types
    assert "Bare" in str(inspector.inspect({"bare": bare, "row": row}))
