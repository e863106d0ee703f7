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

// [(name, value)] of the variables of one frame object; a cell stands for its variable. Makes no dict.
static PyObject *locals_of(PyObject *module /* borrowed */, PyObject *frame /* borrowed */) {
    frame_view view;
    if (!PyFrame_Check(frame) || !frames_of_object(frame, &view)) {
        return PyErr_Format(PyExc_TypeError, "frame_locals() takes a frame");
    }
    _owned_ PyObject *rows = PyList_New(0);
    for (int i = 0; rows && i < view.variables; i++) {
        PyObject *value = compat_slot_value(view.slots[i]);                  // borrowed
        PyObject *name = PyTuple_GET_ITEM(view.code->co_localsplusnames, i); // borrowed
        if (value && list_add(rows, PyTuple_Pack(2, name, value)) < 0) {
            return NULL;
        }
    }
    return take(rows);
}

PART_FUNCTIONS(locals, {"local_values", locals_values, METH_NOARGS, NULL},
               {"frame_locals", locals_of, METH_O, NULL})
