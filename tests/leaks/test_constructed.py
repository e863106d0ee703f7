"""Constructors: what `tp_new` does to its arguments is weighed where the type's own call can be seen."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import pytest
import specimens

import inspector

pytestmark = [pytest.mark.core, pytest.mark.quick]
SOURCE = r"""
#include <Python.h>
static PyObject *new_of(PyTypeObject *type, PyObject *args, int leaks) {
    PyObject *one;
    if (!PyArg_ParseTuple(args, "O", &one)) return NULL;
    volatile PyObject *taken = one; // or the compiler deletes the pair
    Py_INCREF((PyObject *)taken);
    if (!leaks) Py_DECREF((PyObject *)taken);
    return type->tp_alloc(type, 0);
}
static PyObject *leaky(PyTypeObject *type, PyObject *args, PyObject *names) { return new_of(type, args, 1); }
static PyObject *honest(PyTypeObject *type, PyObject *args, PyObject *names) { return new_of(type, args, 0); }
#define STATIC(name, new) static PyTypeObject name = { \
    PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "constructed." #name, .tp_basicsize = sizeof(PyObject), \
    .tp_flags = Py_TPFLAGS_DEFAULT, .tp_new = new};
STATIC(Static, leaky)
STATIC(Honest, honest)
static PyType_Slot slots[] = {{Py_tp_new, leaky}, {0, NULL}};
static PyType_Spec fixed = {"constructed.Fixed", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "constructed"};
PyMODINIT_FUNC PyInit_constructed(void) {
    PyObject *module = PyModule_Create(&definition);
    if (PyType_Ready(&Static) < 0 || PyType_Ready(&Honest) < 0) return NULL;
    PyModule_AddObjectRef(module, "Static", (PyObject *)&Static);
    PyModule_AddObjectRef(module, "Honest", (PyObject *)&Honest);
    PyModule_AddObject(module, "Fixed", PyType_FromSpec(&fixed));
    return module;
}
"""


@pytest.mark.parametrize("name", ["Static", "Fixed"])
def test_a_tp_new_that_takes_one_too_many_is_named_on_the_first_call(name: str) -> None:
    """Several strings: memory may be full of the address of one, which has a possible owner then."""
    module = specimens.build("constructed", SOURCE)
    given = ["".join(["given to ", name, str(n)]) for n in range(8)]
    with inspector.leaks("constructed") as found:
        for one in given:
            getattr(module, name)(one)
    (verdict,) = found.verdicts
    assert (verdict.kind, verdict.method) == ("leaked", f"constructed.{name}")
    assert verdict.object.startswith(f"str 'given to {name}")


def test_a_tp_new_that_balances_is_not_accused() -> None:
    module = specimens.build("constructed", SOURCE)
    with inspector.leaks("constructed") as found:
        module.Honest("".join(["given to ", "Honest"]))
    assert found.verdicts == ()
