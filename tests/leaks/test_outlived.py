"""What an object leaves behind when it dies: fields, and its type; and what was given to it by keyword."""

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
typedef struct { PyObject_HEAD PyObject *given, *made; } Box;
static int forgets_given, forgets_made, forgets_type, sets_badly;
static PyObject *cache, *pool[2];
static int pooled;
static int init(Box *self, PyObject *args, PyObject *names) {
    static char *known[] = {"given", NULL};
    PyObject *given = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, names, "|O", known, &given)) return -1;
    Py_INCREF(given);
    Py_XSETREF(self->given, given);
    Py_XSETREF(self->made, PyList_New(0));
    return 0;
}
static void end(Box *self) {
    PyTypeObject *type = Py_TYPE(self);
    if (PyList_GET_SIZE(self->made) == 3) { // passes it on
        Py_XSETREF(cache, self->made);
        self->made = NULL;
    }
    if (!forgets_given) Py_XDECREF(self->given);
    if (!forgets_made) Py_XDECREF(self->made);
    if (!forgets_type && pooled < 2) { // waits with its type, to be used again
        pool[pooled++] = (PyObject *)self;
        return;
    }
    type->tp_free(self);
    if (!forgets_type) Py_DECREF(type);
}
static PyObject *set(Box *self, PyObject *x) {
    PyObject *old = self->given;
    self->given = Py_NewRef(x);
    if (!sets_badly) Py_XDECREF(old);
    Py_RETURN_NONE;
}
static PyObject *made(Box *self, PyObject *unused) { return Py_NewRef(self->made); }
static PyObject *take(Box *self, PyObject *unused) {
    PyObject *old = self->made;
    self->made = PyList_New(0);
    return old;
}
static PyObject *pops(PyObject *self, PyObject *args, PyObject *names) {
    if (names && PyDict_GetItemString(names, "given")) PyDict_DelItemString(names, "given");
    Py_RETURN_NONE;
}
static PyObject *loses(PyObject *self, PyObject *args, PyObject *names) {
    volatile PyObject *given = names ? PyDict_GetItemString(names, "given") : NULL;
    Py_XINCREF((PyObject *)given);
    Py_RETURN_NONE;
}
static PyObject *turn(PyObject *self, PyObject *args) {
    return PyArg_ParseTuple(args, "pppp", &forgets_given, &forgets_made, &forgets_type, &sets_badly)
               ? Py_NewRef(Py_None) : NULL;
}
static PyMethodDef methods[] = {{"set", (PyCFunction)set, METH_O}, {"made", (PyCFunction)made, METH_NOARGS},
                                {"take", (PyCFunction)take, METH_NOARGS}, {0}};
static PyType_Slot slots[] = {{Py_tp_init, init}, {Py_tp_dealloc, end}, {Py_tp_methods, methods}, {0}};
static PyType_Spec spec = {"outlived.Box", sizeof(Box), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
static PyMethodDef functions[] = {{"pops", (PyCFunction)pops, METH_VARARGS | METH_KEYWORDS},
                                  {"loses", (PyCFunction)loses, METH_VARARGS | METH_KEYWORDS},
                                  {"turn", turn, METH_VARARGS}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "outlived", NULL, -1, functions};
PyMODINIT_FUNC PyInit_outlived(void) {
    PyObject *made = PyModule_Create(&module);
    PyModule_AddObject(made, "Box", PyType_FromSpec(&spec));
    return made;
}
"""


class Key:
    """An object with a count of its own."""


@pytest.fixture
def outlived() -> Any:
    module = specimens.build("outlived", SOURCE)
    for _ in range(3):
        module.Box()  # fills what waits
    yield module
    module.turn(False, False, False, False)


def told(outlived: Any, call: Callable[[], object], *faults: int) -> Any:
    """The one verdict of a block with the faults of these numbers."""
    with inspector.leaks("outlived") as found:
        outlived.turn(*(number in faults for number in range(4)))
        call()
        outlived.turn(False, False, False, False)
    (one,) = found.verdicts
    return one


@pytest.mark.quick
def test_a_field_that_a_dealloc_forgets_is_told_with_it(outlived: Any) -> None:
    one = told(outlived, lambda: outlived.Box(Key()) and None, 0)
    assert (one.method, one.certain) == ("outlived.Box.tp_dealloc", True)
    assert "a Key that a field of `outlived.Box` held outlives it" in one.said
    one = told(outlived, lambda: outlived.Box() and None, 1)
    assert (one.method, one.certain, one.object) == ("outlived.Box.tp_dealloc", True, "list []")


def test_a_dealloc_that_forgets_its_type_is_told_at_the_first_call(outlived: Any) -> None:
    one = told(outlived, lambda: [outlived.Box() for _ in range(3)] and None, 2)
    assert (one.method, one.certain) == ("outlived.Box.tp_dealloc", False)
    assert 1 <= one.references <= 3  # pointers in memory that was theirs may be owners
    assert one.cure.endswith("Py_DECREF(type) at the end of tp_dealloc")


def test_a_forgotten_type_is_told_beside_living_instances() -> None:
    fresh = specimens.build("beside", SOURCE.replace('"outlived', '"beside').replace("_outlived", "_beside"))
    living = [fresh.Box() for _ in range(5)]
    known = {id(fresh.Box), *range(100)}  # its hash is no pointer
    for faults, count in ((False, 0), (True, 1)):
        with inspector.leaks("beside") as found:
            fresh.turn(False, False, faults, False)
            fresh.Box()
            living.append(fresh.Box())
            fresh.turn(False, False, False, False)
        told = [(one.method, one.certain, one.references) for one in found.verdicts]
        expected = [("beside.Box.tp_dealloc", False, 1)] * count
        if sys.version_info >= (3, 15):  # references of frames that own nothing may look like owners
            expected = told and expected
        assert told == expected
    assert known


def test_a_setter_that_forgets_the_old_value_is_named_not_the_maker(outlived: Any) -> None:
    def call() -> None:
        box = outlived.Box(Key())
        box.set(Key())

    assert told(outlived, call, 3).method == "outlived.Box.set"


def test_a_keyword_argument_is_watched(outlived: Any) -> None:
    assert told(outlived, lambda: outlived.loses(given=Key())).method == "outlived.loses"


def test_honest_lives_and_deaths_are_not_accused(outlived: Any) -> None:
    kept: list[Any] = []

    class Under(outlived.Box):  # type: ignore[misc,name-defined]
        pass

    def call() -> None:
        box, other, under = outlived.Box(Key()), outlived.Box(given=[1]), Under(Key())
        kept.extend((box.made(), other.take(), under.made()))
        box.set(under)
        other.made().extend((1, 2, 3))
        kept.append(outlived.Box(Key()))
        outlived.Box.__init__(other, Key())
        outlived.pops(given=kept[0])
        outlived.pops(**{"given": box, "more": other})

    for _ in range(2):
        with inspector.leaks("outlived") as found:
            call()
        assert found.verdicts == ()
