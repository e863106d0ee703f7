// Finds the hosts that look up Python's functions by dlsym, and arms their import slot of dlsym
// (trace/arm/lookups.c).
//
// Candidates are the program, and libraries that keep pointers to Python's functions in their own data, if
// they import dlsym and none of Python's functions. A library that imports those has import slots for them.
// SPDX-License-Identifier: MIT
#include "trace/arm/got.h"
#include "trace/capi/slot_table.h"
#include "trace/record/ring.h"

typedef struct {
    PyObject *paths; // borrowed: a frozenset of str
    int error;
} hosts_walk;

static void import_count(const relocation *found, void *argument) {
    uint32_t *counts = argument;
    counts[0] += strcmp(found->name, "dlsym") == 0;
    counts[1] += exports_find(found->name) != NULL;
}

static int may_look_up(const struct dl_phdr_info *object) {
    uint32_t counts[2] = {0, 0};
    relocations_each(object, import_count, counts);
    return counts[0] && !counts[1];
}

static int host_find(struct dl_phdr_info *object, size_t size, void *argument) {
    hosts_walk *walk = argument;
    if (loaded_left_out(object, GOT_CAPI) || lookups_is_host(object)) {
        return 0;
    }
    int is_program = !object->dlpi_name || !*object->dlpi_name;
    _owned_ PyObject *path = PyUnicode_DecodeFSDefault(loaded_path(object));
    int wanted = is_program || (path && PySet_Contains(walk->paths, path) == 1);
    walk->error |= !path || (wanted && may_look_up(object) && lookups_add(object, loaded_path(object)) < 0);
    return walk->error;
}

// Patches the dlsym slot of the host that lookups_aim selected. New str: its path.
static PyObject *host_arm(const char *aimed_at) {
    _owned_ PyObject *path = PyUnicode_DecodeFSDefault(aimed_at);
    _owned_ PyObject *only = path ? PyFrozenSet_New(NULL) : NULL;
    got_outcome done;
    if (!only || PySet_Add(only, path) < 0 || got_patch(GOT_LOOKUP, GOT_RECORD, only, &done) < 0) {
        return NULL;
    }
    return take(path);
}

static PyObject *hosts_found(PyObject *paths) {
    hosts_walk walk = {.paths = paths};
    dl_iterate_phdr(host_find, &walk);
    return !walk.error ? PyList_New(0) : PyErr_Occurred() ? NULL : PyErr_NoMemory();
}

static PyObject *hosts_arm(PyObject *module, PyObject *paths) {
    if (!PyFrozenSet_CheckExact(paths)) {
        return PyErr_Format(PyExc_TypeError, "hosts_arm() takes a frozenset");
    }
    ring_keeps_each = 1; // the values of each call are looked at
    _owned_ PyObject *armed = exports_prepare() < 0 ? NULL : hosts_found(paths);
    const char *aimed_at;
    for (uint32_t i = 0; armed && (aimed_at = lookups_aim(i)); i++) {
        if (list_add(armed, host_arm(aimed_at)) < 0) {
            return NULL;
        }
    }
    return take(armed);
}

static PyObject *hosts_disarm(PyObject *module, PyObject *unused) {
    ring_keeps_each = 0;
    return got_restored(GOT_LOOKUP);
}

PART_FUNCTIONS(hosts, {"hosts_arm", hosts_arm, METH_O, NULL},
               {"hosts_disarm", hosts_disarm, METH_NOARGS, NULL})
