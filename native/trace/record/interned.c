// The table of objects that records refer to by number: types and code objects seen during a trace.
//
// A hook must not allocate, so both tables lie in the library's zeroed memory, which costs nothing until it
// is touched. The table owns a reference to each object until interned_clear, so that no number can come to
// mean another object at the same address. Needs the GIL throughout.
// SPDX-License-Identifier: MIT
#include "trace/record/interned.h"
#include "trace/record/record.h"

enum { INTERNED_MAX = 1 << 16, INTERNED_HASHED = 1 << 17 };

static PyObject *interned[INTERNED_MAX]; // owned
static uint32_t interned_count = 1;      // number 0 is no object
static uint32_t by_address[INTERNED_HASHED];
interned_one interned_recent[INTERNED_RECENT];
uint32_t interned_generation;

static uint32_t *hashed(const PyObject *object) {
    size_t at = ((uintptr_t)object >> 4) * 0x9E3779B97F4A7C15ULL >> 47;
    while (by_address[at] && interned[by_address[at]] != object) {
        at = (at + 1) % INTERNED_HASHED;
    }
    return &by_address[at];
}

uint32_t interned_id_slow(PyObject *object) {
    uint32_t *place = hashed(object);
    if (!*place) {
        if (interned_count == INTERNED_MAX) {
            return 0;
        }
        interned[interned_count] = Py_NewRef(object);
        journal_add(interned_count, object);
        *place = interned_count++;
    }
    interned_recent[((uintptr_t)object >> 4) % INTERNED_RECENT] = (interned_one){object, *place};
    return *place;
}

static PyObject *interned_objects(PyObject *module, PyObject *ignored) {
    PyObject *objects = PyList_New(interned_count); // new
    for (uint32_t id = 0; objects && id < interned_count; id++) {
        PyList_SET_ITEM(objects, id, Py_NewRef(id ? interned[id] : Py_None));
    }
    return objects;
}

// From now on each object gets a new number: a number tells whether it was given before or after.
static PyObject *interned_renew(PyObject *module, PyObject *ignored) {
    memset(by_address, 0, interned_count > 1 ? sizeof by_address : 0);
    memset(interned_recent, 0, sizeof interned_recent);
    interned_generation++;
    return PyLong_FromUnsignedLong(interned_count);
}

static PyObject *interned_clear(PyObject *module, PyObject *ignored) {
    uint32_t count = interned_count;
    Py_XDECREF(interned_renew(module, ignored));
    interned_count = 1;
    for (uint32_t id = 1; id < count; id++) {
        Py_CLEAR(interned[id]);
    }
    Py_RETURN_NONE;
}

PART_FUNCTIONS(interned, {"interned", interned_objects, METH_NOARGS, NULL},
               {"interned_renew", interned_renew, METH_NOARGS, NULL},
               {"interned_clear", interned_clear, METH_NOARGS, NULL})
