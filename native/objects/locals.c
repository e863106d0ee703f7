// What the variables of all running functions hold: the gc does not know them while their frames run.
//
// The frames are read in place (objects/frames.c), so no frame object and no dict of locals is made:
// `f_locals` would keep a reference to each value until the function returns.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "objects/objects.h"

static int locals_append(PyObject *value, void *list) { return PyList_Append(list, value); }

static PyObject *locals_values(PyObject *module /* borrowed */, PyObject *unused /* borrowed */) {
    _owned_ PyObject *values = PyList_New(0);
    return !values || frames_each_value(locals_append, values) < 0 ? NULL : take(values);
}

PART_FUNCTIONS(locals, {"local_values", locals_values, METH_NOARGS, NULL})
