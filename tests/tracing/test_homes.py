"""Types whose `tp_name` names no module that is there are hooked with the module they lie in."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import sys
from typing import Any

import pytest
import specimens

import inspector

pytestmark = [pytest.mark.core, pytest.mark.quick]
SOURCE = r"""
#include <Python.h>
static PyObject *twice(PyObject *self, PyObject *number) {
    return PyLong_FromLong(2 * PyLong_AsLong(number));
}
#define TWICE {{"twice", twice, METH_O, NULL}, {NULL, NULL, 0, NULL}}
static PyMethodDef of_bare[] = TWICE, of_static[] = TWICE, of_heap[] = TWICE;
static PyTypeObject short_of_a_dot = {PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "Bare", .tp_methods = of_bare,
    .tp_basicsize = sizeof(PyObject), .tp_new = PyType_GenericNew};
static PyTypeObject misnamed = {PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "_nowhere.Static",
    .tp_methods = of_static, .tp_basicsize = sizeof(PyObject), .tp_new = PyType_GenericNew};
static PyType_Slot slots[] = {{Py_tp_methods, of_heap}, {Py_tp_new, PyType_GenericNew}, {0, NULL}};
static PyType_Spec heap = {"_nowhere.Heap", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT, slots};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "homeless", .m_size = -1};
PyMODINIT_FUNC PyInit_homeless(void) {
    int failed = PyType_Ready(&short_of_a_dot) || PyType_Ready(&misnamed);
    PyObject *made = failed ? NULL : PyModule_Create(&definition);
    if (made && (PyModule_AddType(made, &short_of_a_dot) || PyModule_AddType(made, &misnamed) ||
                 PyModule_AddObject(made, "Heap", PyType_FromSpec(&heap)))) Py_CLEAR(made);
    return made;
}
"""


@pytest.fixture(scope="module")
def module() -> Any:
    return specimens.build("homeless", SOURCE)


@pytest.mark.parametrize("name", ["Bare", "Static", "Heap"])
def test_calls_of_its_methods_are_traced(module: Any, name: str) -> None:
    box = vars(module)[name]()
    assert type(box).__module__ in ("builtins", "_nowhere") and "_nowhere" not in sys.modules
    with inspector.trace("homeless") as t:
        assert box.twice(21) == 42
    (call,) = (call for call in t.calls if call.name.startswith("homeless."))
    assert call.name == f"homeless.{name}.twice"
    assert [one.function for one in call.conversions] == ["PyLong_AsLong", "PyLong_FromLong"]


def hooked(module: Any) -> int:
    """How many functions of the module a trace hooks."""
    with inspector.trace("homeless") as t:
        module.Bare().twice(1)
    return next(one.functions_hooked for one in t.seen if one.module == "homeless")


def test_others_types_are_not_the_modules_own(module: Any) -> None:
    """What it only refers to lies in another file."""
    before = hooked(module)
    module.borrowed = type(None)
    try:
        assert hooked(module) == before >= 3
    finally:
        del module.borrowed
