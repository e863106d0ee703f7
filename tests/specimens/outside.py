"""Memory outside objects that is lost, and memory that only looks so: one small module in C, a function each.

A fault's line, where the block is asked for, ends with "// leaks: " and the function's name.
"""

from __future__ import annotations

from typing import Final

LEAKED: Final = {
    "malloc_on_error": "malloc",
}
"""Name -> the function that gave the block."""
HONEST: Final = ("in_static",)

SOURCE: Final = r"""
#include <Python.h>
#include <stdlib.h>
#include <string.h>

static void *volatile cache[64];
static volatile int cached, least = 20;

static PyObject *malloc_on_error(PyObject *self, PyObject *unused) {
    char *text = malloc(100); // leaks: malloc_on_error
    strcpy(text, "some text");
    if ((int)strlen(text) < least) {
        PyErr_SetString(PyExc_ValueError, "too short");
        return NULL;
    }
    free(text);
    Py_RETURN_NONE;
}
static PyObject *in_static(PyObject *self, PyObject *unused) {
    cache[cached++ % 64] = malloc(200);
    Py_RETURN_NONE;
}
static PyMethodDef methods[] = {
    {"malloc_on_error", malloc_on_error, METH_NOARGS, NULL},
    {"in_static", in_static, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "outside", NULL, -1, methods};
PyMODINIT_FUNC PyInit_outside(void) { return PyModule_Create(&definition); }
"""


def line_of(name: str) -> int:
    """The line of the source on which a fault's block is asked for."""
    marked = f"// leaks: {name}"
    return next(number for number, line in enumerate(SOURCE.splitlines(), 1) if line.endswith(marked))
