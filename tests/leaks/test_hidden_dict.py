"""A dict that C code hides from the collector may hold borrowed references: a cache of ghosts."""

# SPDX-License-Identifier: MIT
import specimens

import inspector

SOURCE = r"""
#include <Python.h>
static PyObject *cache; // untracked: it holds no reference to what it refers to
static PyObject *keep(PyObject *self, PyObject *x) {
    PyDict_SetItemString(cache, "x", x);
    PyObject_GC_UnTrack(cache);
    Py_RETURN_NONE;
}
static PyObject *lend(PyObject *self, PyObject *x) { // from now on the cache holds no reference
    Py_DECREF(x);
    Py_RETURN_NONE;
}
static PyObject *drop(PyObject *self, PyObject *x) {
    Py_INCREF(x);
    PyDict_DelItemString(cache, "x");
    Py_RETURN_NONE;
}
static PyMethodDef methods[] = {{"keep", keep, METH_O}, {"lend", lend, METH_O}, {"drop", drop, METH_O}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "hidden_dict", NULL, -1, methods};
PyMODINIT_FUNC PyInit_hidden_dict(void) {
    cache = PyDict_New();
    return PyModule_Create(&module);
}
"""


class Ghost:
    """What the cache refers to."""


def test_what_a_hidden_dict_refers_to_is_not_certainly_released_too_often() -> None:
    module = specimens.build("hidden_dict", SOURCE)
    ghost = Ghost()
    module.keep(ghost)
    with inspector.leaks("hidden_dict") as found:
        module.lend(ghost)
    module.drop(ghost)
    assert found.certain == ()
    assert found.fact.given_back == 0
