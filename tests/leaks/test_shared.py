"""None and the truths returned without a reference, and blocks and objects that a later function loses."""

# SPDX-License-Identifier: MIT
import queue
import sys
from typing import Any

import pytest
import specimens

import inspector

SOURCE = r"""
#include <Python.h>
typedef struct { PyObject_HEAD PyObject *kept; char *block; } Holder;
static PyObject *gives_none(PyObject *self, PyObject *unused) { return Py_None; }
static PyObject *gives_truth(PyObject *self, PyObject *unused) { return Py_True; }
static PyObject *owns_none(PyObject *self, PyObject *unused) { Py_RETURN_NONE; }
static PyObject *drops(PyObject *self, PyObject *unused) { // the field's reference goes, the result's comes
    Holder *holder = (Holder *)self;
    Py_CLEAR(holder->kept);
    Py_RETURN_NONE;
}
static PyObject *frees(PyObject *module, PyObject *lists) { // what held None dies, the only reference to it
    PyList_SetSlice(lists, 0, 1, NULL);
    Py_RETURN_NONE;
}
static int init(PyObject *self, PyObject *args, PyObject *names) {
    ((Holder *)self)->block = PyMem_Malloc(64);
    ((Holder *)self)->kept = Py_NewRef(Py_None);
    return 0;
}
static PyObject *forgets(PyObject *self, PyObject *unused) {
    ((Holder *)self)->block = NULL;
    Py_RETURN_NONE;
}
static void end(PyObject *self) {
    PyMem_Free(((Holder *)self)->block);
    Py_XDECREF(((Holder *)self)->kept);
    Py_TYPE(self)->tp_free(self);
}
static PyObject *ior(PyObject *self, PyObject *other) { // one reference too many, by a macro
    volatile PyObject *taken = self;
    Py_INCREF((PyObject *)taken);
    return Py_NewRef(self);
}
static PyObject *ixor(PyObject *self, PyObject *other) { return self; } // none
static PyNumberMethods numbers = {.nb_inplace_or = ior, .nb_inplace_xor = ixor};
static PyMethodDef methods[] = {
    {"gives_none", gives_none, METH_NOARGS}, {"gives_truth", gives_truth, METH_NOARGS},
    {"owns_none", owns_none, METH_NOARGS}, {"drops", drops, METH_NOARGS},
    {"forgets", forgets, METH_NOARGS}, {0}};
static PyMethodDef functions[] = {{"frees", frees, METH_O}, {0}};
static PyTypeObject Holder_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "shares.Holder", .tp_basicsize = sizeof(Holder),
    .tp_flags = Py_TPFLAGS_DEFAULT, .tp_new = PyType_GenericNew, .tp_init = init, .tp_dealloc = end,
    .tp_methods = methods, .tp_as_number = &numbers,
};
static struct PyModuleDef def = {PyModuleDef_HEAD_INIT, "shares", NULL, -1, functions};
PyMODINIT_FUNC PyInit_shares(void) {
    PyObject *module = PyModule_Create(&def);
    if (!module || PyType_Ready(&Holder_type) < 0) return NULL;
    PyModule_AddObjectRef(module, "Holder", (PyObject *)&Holder_type);
    return module;
}
"""


@pytest.fixture(scope="module")
def shares() -> Any:
    """The module, built once."""
    return specimens.build("shares", SOURCE)


pytestmark = pytest.mark.core
counted = pytest.mark.skipif(sys.version_info >= (3, 12), reason="not on CPython 3.12 and later: immortal")


@counted
@pytest.mark.quick
@pytest.mark.parametrize(("name", "shown"), [("gives_none", "NoneType"), ("gives_truth", "bool True")])
def test_a_shared_object_returned_without_a_reference_is_told_at_once(
    shares: Any, name: str, shown: str
) -> None:
    holder = shares.Holder()
    with inspector.leaks("shares") as found:
        getattr(holder, name)()
    (one,) = found.verdicts
    assert (one.kind, one.method, one.object) == ("over-released", f"shares.Holder.{name}", shown)
    assert not one.certain


@pytest.mark.parametrize("name", ["owns_none", "drops"])
def test_a_reference_that_a_field_dropped_meanwhile_is_none_of_the_result(shares: Any, name: str) -> None:
    holder = shares.Holder()
    with inspector.leaks("shares") as found:
        getattr(holder, name)()
    assert found.verdicts == ()


def test_a_shared_object_that_a_freed_block_held_is_no_fault(shares: Any) -> None:
    lists = [shares.Holder()]
    with inspector.leaks("shares") as found:
        shares.frees(lists)
    assert found.verdicts == ()


def test_a_block_that_a_field_held_is_not_lost_by_the_call_that_made_it(shares: Any) -> None:
    with inspector.leaks("shares") as found:
        for _ in range(8):
            shares.Holder().forgets()
    (one,) = found.verdicts
    assert one.kind == "bytes leaked outside objects"
    assert "tp_init" not in one.method
    assert not one.conversion.method


@pytest.mark.parametrize(("operator", "kind"), [("|", "leaked"), ("^", "over-released")])
def test_an_operator_in_place_is_named(shares: Any, operator: str, kind: str) -> None:
    space = {"Holder": shares.Holder}
    with inspector.leaks("shares") as found:
        exec(f"for _ in range(8):\n    x = Holder()\n    x {operator}= 1\n    x = None", space)
    slot = {"|": "or", "^": "xor"}[operator]
    assert {(one.kind, one.method) for one in found.certain} == {(kind, f"shares.Holder.nb_inplace_{slot}")}


@counted
def test_a_container_that_gives_away_the_none_it_was_given_is_not_told() -> None:
    """The queue's reference becomes the caller's."""
    line = queue.SimpleQueue[None]()
    with inspector.leaks("_queue") as found:
        for _ in range(3):
            line.put(None)
            line.get()
    assert found.verdicts == ()
