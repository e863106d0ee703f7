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
