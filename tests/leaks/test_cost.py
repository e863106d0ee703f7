"""What a block costs beside its calls: nothing is found, read or kept twice."""

# SPDX-License-Identifier: MIT
import gc
from typing import Any

import pytest
import specimens

import inspector
from inspector.tracing.arm.targets import Targets

pytestmark = pytest.mark.core
SOURCE = r"""
#include <Python.h>
#line 1 "made.h"
static inline __attribute__((always_inline)) void make(void) { PyList_New(0); PyErr_Clear(); }
#line 6 "cheap.c"
static PyObject *lose(PyObject *self, PyObject *unused) { make(); Py_RETURN_NONE; }
static PyObject *hold(PyObject *self, PyObject *unused) {
    PyObject *holder = PyList_New(0), *held = PyDict_New();
    PyList_Append(holder, held);
    Py_DECREF(held);
    return holder;
}
static PyMethodDef methods[] = {{"lose", lose, METH_NOARGS, NULL}, {"hold", hold, METH_NOARGS, NULL}, {0}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "cheap", NULL, 0, methods, NULL, 0, 0, 0};
PyMODINIT_FUNC PyInit_cheap(void) { return PyModuleDef_Init(&definition); }
"""


@pytest.fixture
def cheap() -> Any:
    return specimens.build("cheap", SOURCE)


def test_a_second_block_searches_no_module_again(cheap: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    looked, one = [], Targets._one

    def counting(self: Targets, module: str, name: str, value: Any) -> None:
        looked.append(name)
        one(self, module, name, value)

    monkeypatch.setattr(Targets, "_one", counting)
    for _ in range(2):
        looked.clear()
        with inspector.leaks("cheap") as found:
            cheap.lose()
        assert [one.method for one in found.certain] == ["cheap.lose"]
    assert looked == []
    cheap.again = cheap.hold  # the module has a new name
    with inspector.leaks("cheap"):
        cheap.again()
    assert "lose" in looked


def test_lines_leave_no_tree_of_debug_information(cheap: Any) -> None:
    with inspector.leaks("cheap") as found:
        cheap.lose()
    assert "cheap.c:6" in found.certain[0].stack[0].source
    assert {one.tag for one in gc.get_objects() if type(one).__name__ == "DIE"} <= {"DW_TAG_compile_unit"}
