"""One more run tells which function moved a count that every run moves: by macros alone, in any slot."""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Callable
from typing import Any

import pytest
import specimens

import inspector

pytestmark = pytest.mark.core
SOURCE = r"""
#include <Python.h>
typedef struct { PyObject_HEAD PyObject *kept; } Box;
static int loses;
static PyObject *lose(PyObject *x) { // one reference too many, by a macro
    volatile PyObject *taken = x;
    if (loses) Py_INCREF((PyObject *)taken);
    return x;
}
static PyObject *get(Box *box, void *unused) { return Py_NewRef(lose(box->kept)); }
static int set(Box *box, PyObject *value, void *unused) {
    PyObject *old = box->kept;
    box->kept = Py_NewRef(value);
    if (!loses) Py_DECREF(old);
    return 0;
}
static void end(Box *box) {
    PyTypeObject *type = Py_TYPE(box);
    lose(box->kept);
    Py_XDECREF(box->kept);
    PyObject_Free(box);
    if (!loses) Py_DECREF(type);
}
static PyObject *new(PyTypeObject *type, PyObject *args, PyObject *names) {
    Box *box = PyObject_New(Box, type);
    box->kept = Py_NewRef(PyTuple_GET_ITEM(args, 0));
    return (PyObject *)box;
}
static PyObject *none(PyObject *self, PyObject *unused) {
    if (!loses) Py_INCREF(Py_None);
    return Py_None;
}
static Py_hash_t hash(Box *box) { return lose(box->kept) != NULL; }
static PyObject *concat(Box *box, PyObject *other) { return Py_NewRef(lose(other)); }
static PyObject *inner(PyObject *self, PyObject *call) { return PyObject_CallNoArgs(call); }
static PyObject *turn(PyObject *self, PyObject *on) { loses = PyObject_IsTrue(on); Py_RETURN_NONE; }
static PyMethodDef methods[] = {{"none", none, METH_NOARGS}, {0}};
static PyGetSetDef parts[] = {{"part", (getter)get, (setter)set}, {0}};
static PyType_Slot slots[] = {{Py_tp_new, new}, {Py_tp_dealloc, end}, {Py_tp_getset, parts},
    {Py_tp_hash, hash}, {Py_sq_concat, concat}, {Py_tp_methods, methods}, {0}};
static PyType_Spec spec = {"charges.Box", sizeof(Box), 0, Py_TPFLAGS_DEFAULT, slots};
static PyMethodDef functions[] = {{"inner", inner, METH_O}, {"turn", turn, METH_O}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "charges", NULL, -1, functions};
PyMODINIT_FUNC PyInit_charges(void) {
    PyObject *made = PyModule_Create(&module);
    PyModule_AddObject(made, "Box", PyType_FromSpec(&spec));
    return made;
}
"""


class Key:
    """An object with a count of its own."""


KEY = Key()
CASES: dict[str, Callable[[Any, Any], object]] = {
    "part": lambda box, _: box.part,
    "none": lambda box, _: box.none(),
    "tp_hash": lambda box, _: hash(box),
    "sq_concat": lambda box, _: box + KEY,
    "tp_dealloc": lambda box, charges: charges.Box(KEY) and None,
}


@pytest.fixture(scope="module")
def charges() -> Any:
    return specimens.build("charges", SOURCE)


def run(charges: Any, call: Callable[[], object]) -> Any:
    charges.turn(True)
    try:
        return inspector.leaks("charges").run(call)
    finally:
        charges.turn(False)


if sys.version_info >= (3, 12):  # None has no count
    del CASES["none"]


@pytest.mark.parametrize("name", CASES)
def test_the_function_is_named(charges: Any, name: str) -> None:
    box = charges.Box(KEY)
    found = run(charges, lambda: CASES[name](box, charges) and None)
    assert {one.method for one in found} == {f"charges.Box.{name}"}


def test_a_setter_is_named(charges: Any) -> None:
    box, other = charges.Box(KEY), Key()

    def call() -> None:
        box.part = other
        box.part = KEY

    assert {one.method for one in run(charges, call)} == {"charges.Box.part"}


def test_a_call_within_a_call_is_named(charges: Any) -> None:
    box = charges.Box(KEY)
    found = run(charges, lambda: charges.inner(lambda: box.part) and None)
    assert {one.method for one in found} == {"charges.Box.part"}


def test_nothing_honest_is_charged(charges: Any) -> None:
    box = charges.Box(KEY)

    def call() -> None:
        for each in CASES.values():
            each(box, charges)
        box.part = KEY

    assert inspector.leaks("charges").run(call).verdicts == ()
