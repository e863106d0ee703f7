// What the variables of all running functions hold: the gc does not know them while their frames run.
//
// The frames are read in place (objects/frames.c), so no frame object and no dict of locals is made:
// `f_locals` would keep a reference to each value until the function returns.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "objects/objects.h"

static int locals_append(const frame_view *view, void *arg) {
    PyObject *values = arg; // borrowed: the list
    for (int i = 0; i < view->values; i++) {
        PyObject *value = compat_slot(view->slots[i]); // borrowed
        if (value && PyList_Append(values, value) < 0) {
            return -1;
        }
    }
    return 0;
}

static PyObject *locals_values(PyObject *module /* borrowed */, PyObject *unused /* borrowed */) {
    _owned_ PyObject *values = PyList_New(0);
    if (!values || frames_each(locals_append, values) < 0) {
        return NULL;
    }
    return take(values);
}

PART_FUNCTIONS(locals, {"local_values", locals_values, METH_NOARGS, NULL})
