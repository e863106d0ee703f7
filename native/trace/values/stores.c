// What `x[key] = value` puts where: owner, key and value, seen while all three are alive.
//
// The value of an assignment to items is often a call's result that no name holds, and nothing but the slot
// sees it. stores_watch replaces mp_ass_subscript of some types; while an assignment that is looked at runs
// (stores_want), the hook calls back after each store that succeeded. stores_end restores the slots. A type
// whose slot somebody else has replaced meanwhile keeps our hook, which then only passes on. Left out: types
// that store by Python code (their slot is CPython's, which all of them share), and stores of other threads.
// SPDX-License-Identifier: MIT
#include "module/native.h"

enum { TYPES_MAX = 32 };

static struct {
    PyTypeObject *type; // owned
    objobjargproc store;
} stored[TYPES_MAX];
static int stored_count;
static PyObject *stores_callback;    // owned; NULL: closed
static PyThreadState *stores_thread; // the thread that watches
static int stores_wanted;

static int stores_find(PyTypeObject *type) {
    for (int i = 0; i < stored_count; i++) {
        if (stored[i].type == type) {
            return i;
        }
    }
    return -1;
}

static int store_hook(PyObject *self /* borrowed */, PyObject *key /* borrowed */,
                      PyObject *value /* borrowed, or NULL */) {
    int at = -1; // of the type itself, or of the base whose slot a subclass got
    for (PyTypeObject *type = Py_TYPE(self); type && at < 0; type = type->tp_base) {
        at = stores_find(type);
    }
    if (at < 0) { // cannot be: the slot came from one of the types
        PyErr_SetString(PyExc_SystemError, "inspector: a type's own store is not known");
        return -1;
    }
    int failed = stored[at].store(self, key, value);
    if (failed || !value || !stores_wanted || !stores_callback || PyThreadState_Get() != stores_thread) {
        return failed;
    }
    PyObject *callback = Py_NewRef(stores_callback);
    PyObject *done = PyObject_CallFunctionObjArgs(callback, self, key, value, NULL); // new
    Py_DECREF(callback);
    Py_XDECREF(done);
    return done ? 0 : -1; // a signal's handler raised: the user's code gets it
}

// Whether a type stores items by a C function of its own, or of a base's.
static int stores_in_c(PyTypeObject *type) {
    PyMappingMethods *table = type->tp_as_mapping;
    PyObject *name = PyUnicode_InternFromString("__setitem__"); // new
    PyObject *found = name ? _PyType_Lookup(type, name) : NULL; // borrowed
    Py_XDECREF(name);
    return table && table->mp_ass_subscript && found && Py_IS_TYPE(found, &PyWrapperDescr_Type);
}

static PyObject *stores_watch(PyObject *module /* borrowed */, PyObject *const *args, Py_ssize_t count) {
    if (count < 1) {
        return PyErr_Format(PyExc_TypeError, "stores_watch() takes a callable, then types");
    }
    Py_XSETREF(stores_callback, Py_NewRef(args[0]));
    stores_thread = PyThreadState_Get();
    for (Py_ssize_t i = 1; i < count; i++) {
        PyTypeObject *type = (PyTypeObject *)args[i];
        int at = stores_find(type);
        if (!PyType_Check(args[i]) || !stores_in_c(type) || (at < 0 && stored_count == TYPES_MAX)) {
            continue;
        }
        objobjargproc *slot = &type->tp_as_mapping->mp_ass_subscript;
        if (*slot != store_hook) {
            at = at < 0 ? stored_count++ : at;
            stored[at].type = stored[at].type ? stored[at].type : (PyTypeObject *)Py_NewRef(args[i]);
            stored[at].store = *slot;
            *slot = store_hook;
        }
    }
    Py_RETURN_NONE;
}

static PyObject *stores_want(PyObject *module /* borrowed */, PyObject *wanted /* borrowed */) {
    stores_wanted = wanted == Py_True;
    Py_RETURN_NONE;
}

static PyObject *stores_end(PyObject *module /* borrowed */, PyObject *none /* borrowed */) {
    stores_wanted = 0;
    Py_CLEAR(stores_callback);
    for (int i = 0; i < stored_count; i++) {
        objobjargproc *slot = &stored[i].type->tp_as_mapping->mp_ass_subscript;
        if (*slot == store_hook) {
            *slot = stored[i].store;
        }
    }
    Py_RETURN_NONE;
}

PART_FUNCTIONS(stores, {"stores_watch", (PyCFunction)(void (*)(void))stores_watch, METH_FASTCALL, NULL},
               {"stores_want", stores_want, METH_O, NULL}, {"stores_end", stores_end, METH_NOARGS, NULL})
