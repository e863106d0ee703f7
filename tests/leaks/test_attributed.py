"""Who lost a reference: not the call that made the object and left it right, whatever the harness."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable
from typing import Any

import pytest
import specimens

import inspector
from inspector.objects.classes import type_module

pytestmark = pytest.mark.core
SOURCE = r"""
#include <Python.h>
typedef struct { PyObject_HEAD PyObject *kept; } Box;
static PyObject *take(PyObject *x) { // one reference too many, by a macro
    volatile PyObject *taken = x;
    Py_INCREF((PyObject *)taken);
    return x;
}
static int init(PyObject *self, PyObject *args, PyObject *names) {
    int loses = 0;
    if (!PyArg_ParseTuple(args, "|p", &loses)) return -1;
    ((Box *)self)->kept = PyList_New(0); // made
    if (loses) take(((Box *)self)->kept);
    return 0;
}
static void end(PyObject *self) {
    Py_XDECREF(((Box *)self)->kept);
    Py_TYPE(self)->tp_free(self);
}
static PyObject *add(PyObject *box, PyObject *other) { return take(box) ? PyLong_FromLong(1) : NULL; }
static PyObject *both(PyObject *left, PyObject *right) { // what a list kept for a while is lost
    PyObject *list = PyList_New(0);
    PyList_Append(list, take(((Box *)left)->kept));
    Py_DECREF(list);
    return PyLong_FromLong(1);
}
static int contains(PyObject *box, PyObject *x) { return take(((Box *)box)->kept) != NULL; }
static PyObject *subscript(PyObject *box, PyObject *key) { return take(key) ? PyLong_FromLong(1) : NULL; }
static PyObject *part(PyObject *box, void *unused) { return Py_NewRef(take(((Box *)box)->kept)); }
static PyObject *make(PyObject *self, PyObject *loses) {
    PyObject *list = PyList_New(0);
    return PyObject_IsTrue(loses) ? take(list) : list;
}
static PyNumberMethods numbers = {.nb_add = add, .nb_subtract = both};
static PySequenceMethods items = {.sq_contains = contains};
static PyMappingMethods keys = {.mp_subscript = subscript};
static PyGetSetDef parts[] = {{"part", part}, {0}};
static PyTypeObject Box_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "boxes.Box", .tp_basicsize = sizeof(Box),
    .tp_flags = Py_TPFLAGS_DEFAULT, .tp_new = PyType_GenericNew, .tp_init = init, .tp_dealloc = end,
    .tp_as_number = &numbers, .tp_as_sequence = &items, .tp_as_mapping = &keys, .tp_getset = parts,
};
"""


MANY = 8
"""Calls in a run: memory may be full of the address of one object, which has a possible owner then."""


class Key:
    """An object with a count of its own."""


@pytest.fixture(scope="module")
def boxes() -> Any:
    return specimens.build("boxes", SOURCE)


LATER: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "nb_add": ("boxes.Box.nb_add", lambda boxes: boxes.Box() + 1),
    "sq_contains": ("boxes.Box.sq_contains", lambda boxes: 1 in boxes.Box()),
    "a getter": ("boxes.Box.part", lambda boxes: boxes.Box().part),
}
"""Slot -> its name, and a call of it."""


@pytest.mark.quick
@pytest.mark.parametrize("slot", LATER)
def test_the_call_that_made_an_object_is_not_accused_of_a_later_slot(boxes: Any, slot: str) -> None:
    name, call = LATER[slot]

    def run() -> None:
        for _ in range(MANY):
            call(boxes)

    with inspector.leaks("boxes") as once:
        run()
    for found in (once, inspector.leaks("boxes").run(run)):
        told = [(one.kind, one.method, one.object) for one in found.certain]
        assert [row[:2] for row in told] == [("leaked", name)], told


def test_a_slot_with_a_hook_is_named(boxes: Any) -> None:
    found = inspector.leaks("boxes").run(lambda: boxes.Box()[Key()] and None)
    assert [one.method for one in found] == ["boxes.Box.mp_subscript"]


@pytest.mark.parametrize(("function", "name"), [("Box", "boxes.Box.tp_init"), ("make", "boxes.make")])
def test_a_maker_that_leaves_too_many_is_named(boxes: Any, function: str, name: str) -> None:
    def run() -> None:
        for _ in range(MANY):
            getattr(boxes, function)(True)

    assert [one.method for one in inspector.leaks("boxes").run(run)] == [name]


def test_nothing_honest_is_accused(boxes: Any) -> None:
    def run() -> None:
        boxes.Box(), boxes.make(False)

    assert inspector.leaks("boxes").run(run).verdicts == ()


def test_what_an_operator_takes_is_not_told_of_the_maker(boxes: Any) -> None:
    with inspector.leaks("boxes") as found:
        for _ in range(MANY):
            boxes.Box() - ()
    assert {one.method for one in found} == {"boxes.Box.nb_subtract"}


def test_an_object_that_lost_references_before_may_lose_one_again(boxes: Any) -> None:
    """Which of its unexplained references is the call's, no owner tells: its count rose in the call."""
    box, key = boxes.Box(), []  # type: ignore[var-annotated]
    with inspector.leaks("boxes") as first:
        box[key]
    with inspector.leaks("boxes") as again:
        box[key]
    assert [one.certain for one in first.verdicts] == [True]
    assert [(one.kind, one.certain) for one in again.verdicts] == [("leaked", False)]


NAMED = r"""
#include <Python.h>
#include <structmember.h>
typedef struct { PyObject_HEAD PyObject *of; } Own; // as Cython's generators
static PyMemberDef members[] = {{"__module__", T_OBJECT, offsetof(Own, of), 0}, {0}};
static PyObject *call(PyObject *self, PyObject *args, PyObject *names) {
    return PyBool_FromLong(PyList_New(0) != NULL);
}
static PyType_Slot slots[] = {{Py_tp_members, members}, {Py_tp_call, call}, {0}};
static PyType_Spec spec = {"named.inner.Own", sizeof(Own), 0, Py_TPFLAGS_DEFAULT, slots};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "named", NULL, -1};
PyMODINIT_FUNC PyInit_named(void) {
    PyObject *module = PyModule_Create(&definition);
    PyModule_AddObject(module, "Own", PyType_FromSpec(&spec));
    return module;
}
"""


def test_a_type_whose_instances_have_a_module_is_named_with_its_own() -> None:
    module = specimens.build("named", NAMED)
    own = module.Own()
    with inspector.leaks("named") as found:
        own()
    assert [one.method for one in found] == ["named.inner.Own.tp_call"]
    replaced = type("a.b", (), {"__module__": 5})
    assert [type_module(one) for one in (module.Own, replaced)] == ["named.inner", ""]
