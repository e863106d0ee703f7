// What is armed beside the C API: allocators, and the functions that call C for Python.
//
// got.c patches the slots with the hooks of their family (families.c); trace/capi/pymem.c hooks Python's own
// allocators. This part arms and disarms each source as a whole.
// SPDX-License-Identifier: MIT
#include "trace/arm/got.h"
#include "trace/capi/allocations.h"
#include "trace/capi/foreign_calls.h"

static PyObject *allocations_arm(PyObject *module, PyObject *ignored) {
    got_outcome done;
    got_source_find_addresses(&allocations_source);
    if (got_patch(GOT_ALLOCATORS, GOT_RECORD, NULL, &done) < 0) {
        return NULL;
    }
    return Py_BuildValue("(IIIi)", done.stored, done.failed, done.no_room, pymem_arm());
}

static PyObject *allocations_disarm(PyObject *module, PyObject *ignored) {
    got_outcome done;
    int left = pymem_disarm();
    got_restore(GOT_ALLOCATORS, &done);
    return Py_BuildValue("(IIIIi)", done.stored, done.foreign, done.gone, done.failed, left);
}

static PyObject *foreign_arm(PyObject *module, PyObject *paths) {
    got_outcome calls, border;
    if (!PyFrozenSet_CheckExact(paths)) {
        return PyErr_Format(PyExc_TypeError, "foreign_arm() takes a frozenset");
    }
    _owned_ PyObject *list = PySequence_List(paths);
    for (Py_ssize_t i = 0; list && i < PyList_GET_SIZE(list); i++) {
        foreign_find_addresses(PyList_GET_ITEM(list, i));
    }
    if (!list || exports_prepare() < 0 || got_patch(GOT_FOREIGN, GOT_RECORD, paths, &calls) < 0 ||
        got_patch(GOT_CAPI, GOT_BORDER, paths, &border) < 0) {
        return NULL;
    }
    return Py_BuildValue("(II)", calls.stored, border.stored);
}

static PyObject *foreign_disarm(PyObject *module, PyObject *ignored) { return got_restored(GOT_FOREIGN); }

static PyObject *foreign_names(PyObject *module, PyObject *argument) {
    void *address = PyLong_AsVoidPtr(argument);
    return PyErr_Occurred() ? NULL : exports_names(address);
}

static PyObject *got_counts(PyObject *module, PyObject *unused) {
    _owned_ PyObject *rows = PyList_New(0);
    for (uint32_t i = 0; rows && i < GOT_SLOTS; i++) {
        uint64_t count = got_words_of[i].count;
        if (count && list_add(rows, Py_BuildValue("(IK)", i, (unsigned long long)count)) < 0) {
            return NULL;
        }
    }
    return take(rows);
}

static PyObject *got_clear_counts(PyObject *module, PyObject *unused) {
    for (uint32_t i = 0; i < GOT_SLOTS; i++) {
        if (got_words_of[i].count) { // a page that was never written stays so
            got_words_of[i].count = 0;
        }
    }
    Py_RETURN_NONE;
}

PART_FUNCTIONS(sources, {"got_counts", got_counts, METH_NOARGS, NULL},
               {"got_clear_counts", got_clear_counts, METH_NOARGS, NULL},
               {"allocations_arm", allocations_arm, METH_NOARGS, NULL},
               {"allocations_disarm", allocations_disarm, METH_NOARGS, NULL},
               {"foreign_arm", foreign_arm, METH_O, NULL},
               {"foreign_disarm", foreign_disarm, METH_NOARGS, NULL},
               {"foreign_names", foreign_names, METH_O, NULL})
