"""An object kept for reuse and released once more, its type gone: told, nothing is read."""

from __future__ import annotations

import gc
from typing import Any

import pytest
import specimens

import inspector

pytestmark = pytest.mark.core
SOURCE = r"""
#include <Python.h>
typedef struct { PyObject_HEAD } Thing;
static PyObject *spare; // a block kept for reuse, as Cython keeps them: nobody frees it

static void keep(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    spare = self;
    Py_DECREF(type);
}
static PyType_Slot slots[] = {{Py_tp_dealloc, keep}, {0, NULL}};
static PyType_Spec spec = {"gone.Thing", sizeof(Thing), 0, Py_TPFLAGS_DEFAULT, slots};

static PyObject *make_type(PyObject *self, PyObject *unused) { return PyType_FromSpec(&spec); }
static PyObject *twice(PyObject *self, PyObject *type) {
    PyObject *thing = PyObject_CallNoArgs(type);
    volatile int times = 2;
    while (thing && times--) {
        Py_DECREF(thing);
    }
    Py_RETURN_NONE;
}
static PyMethodDef methods[] = {
    {"make_type", make_type, METH_NOARGS, NULL}, {"twice", twice, METH_O, NULL}, {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "gone", NULL, -1, methods, NULL, NULL, NULL, NULL,
};
PyMODINIT_FUNC PyInit_gone(void) { return PyModule_Create(&definition); }
"""


def test_a_type_that_is_gone_is_not_read() -> None:
    gone: Any = specimens.build("gone", SOURCE)
    with inspector.leaks("gone") as found:
        kind = gone.make_type()
        gone.twice(kind)
        del kind
        gc.collect()
    (one,) = (one for one in found if one.kind == "over-released")
    assert (one.object, one.method) == ("object", "gone.twice")
