"""Honest calls that were accused once: each test fails with the rule that did it."""

from __future__ import annotations

from typing import Any

import pytest
import specimens
from leak_corpus import SOURCE

import inspector

pytestmark = pytest.mark.core

TAKES_OUT = r"""
#include <Python.h>
static PyObject *take_out(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    return PySequence_DelItem(args[0], 0) < 0 ? NULL : Py_NewRef(Py_None);
}
static PyMethodDef methods[] = {
    {"take_out", (PyCFunction)(void (*)(void))take_out, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "takes_out", NULL, -1, methods, NULL, NULL, NULL, NULL,
};
PyMODINIT_FUNC PyInit_takes_out(void) { return PyModule_Create(&definition); }
"""

RESEMBLES = r"""
#include <Python.h>
static PyObject *remember(PyObject *self, PyObject *unused) {
    size_t *block = PyObject_Malloc(320); // no object, and never freed
    memcpy(block, "a path that ends in", 16);
    block[2] = 28531;
    block[3] = (size_t)&PyTuple_Type;
    Py_RETURN_NONE;
}
typedef struct { PyObject_HEAD PyObject *held; } Thing;
static Thing only; // memory of the type's own
static void end(PyObject *self) { memset(&only, 0x80, sizeof only); }
static PyTypeObject type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "resembles.Thing",
    .tp_basicsize = sizeof(Thing),
    .tp_dealloc = end,
    .tp_flags = Py_TPFLAGS_DEFAULT,
};
static PyObject *own_memory(PyObject *self, PyObject *list) {
    PyObject *thing = PyObject_Init((PyObject *)&only, &type);
    int status = PyList_Append(list, thing) || PySequence_DelItem(list, 0);
    Py_DECREF(thing);
    return status ? NULL : Py_NewRef(Py_None);
}
static PyMethodDef methods[] = {
    {"remember", remember, METH_NOARGS, NULL},
    {"own_memory", own_memory, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "resembles", NULL, -1, methods, NULL, NULL, NULL, NULL,
};
PyMODINIT_FUNC PyInit_resembles(void) {
    return PyType_Ready(&type) < 0 ? NULL : PyModule_Create(&definition);
}
"""


@pytest.fixture
def resembles() -> Any:
    return specimens.build("resembles", RESEMBLES)


def test_words_like_those_of_a_tuple_are_none(resembles: Any) -> None:
    """Where no list of the gc's has it; a collection would follow what stands there and end the process."""
    found = inspector.leaks("resembles").run(resembles.remember)
    assert found.verdicts == ()


def test_memory_that_a_type_has_of_its_own_holds_no_dead_object(resembles: Any) -> None:
    with inspector.leaks("resembles") as found:
        resembles.own_memory([])
    assert found.verdicts == ()


def neighbours() -> tuple[list[int], int]:
    """A list whose only int lies right before the other int, where blocks are pymalloc's."""
    numbers = {id(number): number for number in range(10**6, 10**6 + 5000)}
    one, *others = numbers
    first = next((address for address in numbers if address + 32 in numbers), one)
    second = numbers.get(first + 32, numbers[others[0]])
    return [numbers.pop(first)], second


def test_the_block_before_an_argument_may_be_freed() -> None:
    module: Any = specimens.build("takes_out", TAKES_OUT)
    items, argument = neighbours()
    with inspector.leaks("takes_out") as found:
        module.take_out(items, argument)
    assert items == [] and found.verdicts == ()


def test_the_table_of_interned_strings_owns_none_of_them() -> None:
    corpus: Any = specimens.build("leak_corpus", SOURCE)
    name = "an_interned_name_that_a_static_keeps"
    with inspector.leaks("leak_corpus") as found:
        corpus.cached_in_static(name)
    assert found.verdicts == ()
