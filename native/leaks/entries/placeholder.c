// The placeholder in the block of a dead object while something may still refer to it.
//
// A placeholder is an object without contents, of a type of our own, with PLACEHOLDER references. Code with a
// dangling reference meets a valid object. A DECREF too many takes one of those references instead of
// corrupting the free list of the allocator: the fault is counted and the process lives.
// SPDX-License-Identifier: MIT
#include "leaks/entries/entry.h"

static const Py_ssize_t PLACEHOLDER = 1 << 28;

static void released_dealloc(PyObject *self) {}

static PyObject *released_repr(PyObject *self) {
    return PyUnicode_FromString("<an object that was released too often: its memory is not reused>");
}

static PyTypeObject released_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "inspector: an object that C code released too often",
    .tp_basicsize = sizeof(PyObject),
    .tp_dealloc = released_dealloc,
    .tp_repr = released_repr,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
};

int ledger_placeholder_init(void) { return PyType_Ready(&released_type); }

void ledger_placeholder_make(PyObject *object) {
    Py_SET_TYPE(object, &released_type);
    Py_SET_REFCNT(object, PLACEHOLDER);
}

int ledger_is_placeholder(PyObject *object) { return Py_IS_TYPE(object, &released_type); }

Py_ssize_t ledger_placeholder_missing(PyObject *object) { return PLACEHOLDER - Py_REFCNT(object); }
