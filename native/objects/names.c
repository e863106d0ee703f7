// The names of a namespace as rows: what each holds, with the reference count the holder itself sees.
//
// The dict is read in place, so that no temporary reference of ours gets into a count. A value that is a
// Subject stands for the object in it, and its reference is taken out. The gc is off while the rows are
// built: nothing can run that would change the dict under the loop.
// SPDX-License-Identifier: MIT
#include "objects/objects.h"

static PyObject *names_row(native_state *state, PyObject *name, PyObject *value) {
    Py_ssize_t ours = 0;
    if (Py_IS_TYPE(value, state->subject_type)) {
        value = subject_peek(value);
        ours = 1;
    }
    if (!value) {
        return Py_NewRef(Py_None); // an emptied Subject: no row
    }
    own_bytes_rule rule;
    own_bytes_plan(Py_TYPE(value), &rule);
    _owned_ PyObject *count = compat_is_immortal(value) ? Py_NewRef(Py_None) // owned
                                                        : PyLong_FromSsize_t(Py_REFCNT(value) - ours);
    return Py_BuildValue("ONNOn", name, layout_type_name(Py_TYPE(value)), PyLong_FromVoidPtr(value), count,
                         (Py_ssize_t)own_bytes(value, &rule));
}

static PyObject *names_rows(PyObject *module, PyObject *dict) {
    native_state *state = native_get_state(module);
    PyObject *name, *value; // borrowed
    Py_ssize_t position = 0;
    _owned_ PyObject *rows = PyList_New(0); // owned
    while (rows && PyDict_Next(dict, &position, &name, &value)) {
        if (!PyUnicode_CheckExact(name)) {
            continue;
        }
        _owned_ PyObject *row = names_row(state, name, value); // owned
        if (!row || (row != Py_None && PyList_Append(rows, row) < 0)) {
            return NULL;
        }
    }
    return take(rows);
}

static PyObject *names_take(PyObject *module, PyObject *dict) {
    if (!PyDict_CheckExact(dict)) {
        return PyErr_Format(PyExc_TypeError, "names() takes a dict");
    }
    _collector_ int was_on = PyGC_Disable();
    return names_rows(module, dict);
}

PART_FUNCTIONS(names, {"names", names_take, METH_O, NULL})
