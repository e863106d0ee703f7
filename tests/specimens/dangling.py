"""Views that outlive their memory, and views that only look so: one small module in C, a function each.

A fault's line, where the block is freed by C code of the module, ends with "// frees it".
"""

# SPDX-License-Identifier: MIT
from typing import Final

FAULTS: Final[dict[str, str]] = {
    "freed_before_return": "free",
    "grown": "realloc",
    "text_of_temporary": "PyObject_Free",
    "buffer_of_python": "PyMem_Free",
}
"""Name -> the function that frees."""
HONEST: Final = (
    "static_memory", "pool_used_again", "view_dies_first", "view_dies_later", "view_released_first",
    "another_is_freed", "kept_by_object",
)  # fmt: skip

SOURCE: Final = r"""
#include <Python.h>
#include <stdlib.h>
#include <string.h>
enum { BYTES = 5000 };
static char fixed[BYTES], *vector, *pool;
static PyObject *view_of(char *memory) { return PyMemoryView_FromMemory(memory, 64, PyBUF_READ); }
static PyObject *freed_before_return(PyObject *self, PyObject *unused) {
    char *memory = calloc(1, BYTES);
    PyObject *view = view_of(memory + 8);
    free(memory); // frees it
    return view;
}
static PyObject *look(PyObject *self, PyObject *unused) {
    vector = vector ? vector : calloc(1, BYTES);
    return view_of(vector);
}
static PyObject *address(PyObject *self, PyObject *unused) {
    vector = vector ? vector : calloc(1, BYTES);
    memset(vector, 0, BYTES);
    return PyLong_FromVoidPtr(vector);
}
static PyObject *end(PyObject *self, PyObject *unused) {
    free(vector); // frees it
    vector = NULL;
    Py_RETURN_NONE;
}
static PyObject *grown(PyObject *self, PyObject *unused) {
    vector = realloc(vector, 20 * BYTES); // frees it
    memset(vector + BYTES, 7, BYTES);
    PyObject *same = PyBool_FromLong(vector[0] == 0 && vector[BYTES] == 7);
    free(vector);
    vector = NULL;
    return same;
}
static PyObject *text_of_temporary(PyObject *self, PyObject *unused) {
    PyObject *text = PyBytes_FromStringAndSize(NULL, 200);
    memset(PyBytes_AS_STRING(text), 'a', 200);
    PyObject *view = view_of(PyBytes_AS_STRING(text));
    Py_DECREF(text);
    return view;
}
static PyObject *buffer_of_python(PyObject *self, PyObject *unused) {
    char *memory = PyMem_Malloc(300);
    memset(memory, 0, 300);
    PyObject *view = view_of(memory);
    PyMem_Free(memory);
    return view;
}
static PyObject *static_memory(PyObject *self, PyObject *unused) { return view_of(fixed); }
static PyObject *pool_used_again(PyObject *self, PyObject *unused) {
    pool = pool ? pool : malloc(BYTES);
    PyObject *view = view_of(pool);
    memset(pool, 1, BYTES); // "free" of the pool: what it handed out may be written again
    return view;
}
static PyObject *view_dies_first(PyObject *self, PyObject *unused) {
    char *memory = malloc(BYTES);
    PyObject *view = view_of(memory);
    Py_DECREF(view);
    free(memory);
    Py_RETURN_NONE;
}
static PyObject *view_dies_later(PyObject *self, PyObject *unused) {
    char *memory = malloc(BYTES);
    PyObject *view = view_of(memory);
    free(memory);
    Py_DECREF(view);
    Py_RETURN_NONE;
}
static PyObject *view_released_first(PyObject *self, PyObject *unused) {
    char *memory = malloc(BYTES);
    PyObject *view = view_of(memory), *done = PyObject_CallMethod(view, "release", NULL);
    Py_XDECREF(done);
    free(memory);
    return view;
}
static PyObject *another_is_freed(PyObject *self, PyObject *unused) {
    char *before = malloc(BYTES), *after;
    PyObject *view = view_of(fixed + 8);
    after = malloc(BYTES);
    free(before);
    free(after);
    return view;
}
static PyObject *kept_by_object(PyObject *self, PyObject *unused) {
    PyObject *text = PyBytes_FromStringAndSize(NULL, 200);
    memset(PyBytes_AS_STRING(text), 'a', 200);
    PyObject *view = PyMemoryView_FromObject(text);
    Py_DECREF(text);
    return view;
}
"""
