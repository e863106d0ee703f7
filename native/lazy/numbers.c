// Conversion of elements to and from Python numbers, and refusals: the base of native/lazy/.
// SPDX-License-Identifier: MIT
#include "lazy/inside.h"

int lazy_refuse(const char *name, PyObject *arguments) {
    _owned_ PyObject *owned_arguments = arguments;
    _owned_ PyObject *refusals = owned_arguments ? PyImport_ImportModule("inspector.lazy.refusals") : NULL;
    _owned_ PyObject *refusal = refusals ? PyObject_GetAttrString(refusals, name) : NULL;
    _owned_ PyObject *error = refusal ? PyObject_Call(refusal, owned_arguments, NULL) : NULL;
    if (error) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    }
    return -1;
}

int lazy_check_length(Py_ssize_t length, const lazy_kind *kind) {
    if (length > PY_SSIZE_T_MAX / kind->itemsize) {
        return error_set(PyExc_OverflowError, "%zd elements of %s exceed the address space", length,
                         kind->name);
    }
    return 0;
}

PyObject *lazy_box(const lazy_kind *kind, const void *element) {
    if (kind->family == 'f') {
        float narrow;
        double value;
        if (kind->itemsize == 4) {
            memcpy(&narrow, element, sizeof narrow);
            return PyFloat_FromDouble((double)narrow);
        }
        memcpy(&value, element, sizeof value);
        return PyFloat_FromDouble(value);
    }
    uint64_t bits = 0;
    memcpy(&bits, element, (size_t)kind->itemsize);
    int spare = 64 - 8 * kind->itemsize; // sign extension
    return kind->family == 'b'   ? PyBool_FromLong(bits != 0)
           : kind->family == 'u' ? PyLong_FromUnsignedLongLong(bits)
                                 : PyLong_FromLongLong((int64_t)(bits << spare) >> spare);
}

static int unbox_integer(const lazy_kind *kind, PyObject *number, void *element) {
    _owned_ PyObject *index = PyNumber_Index(number);
    if (!index) {
        return -1;
    }
    uint64_t bits;
    int fits, spare = 64 - 8 * kind->itemsize;
    if (kind->family == 'i') {
        int64_t value = PyLong_AsLongLong(index);
        bits = (uint64_t)value;
        fits = (int64_t)(bits << spare) >> spare == value;
    } else {
        bits = PyLong_AsUnsignedLongLong(index);
        fits = (bits << spare) >> spare == bits;
    }
    if (PyErr_Occurred()) {
        return -1;
    }
    if (!fits) {
        return error_set(PyExc_OverflowError, "%R does not fit into %s", index, kind->name);
    }
    memcpy(element, &bits, (size_t)kind->itemsize);
    return 0;
}

int lazy_unbox(const lazy_kind *kind, PyObject *number, void *element) {
    if (kind->family == 'f') {
        double value = PyFloat_AsDouble(number);
        if (value == -1.0 && PyErr_Occurred()) {
            return -1;
        }
        float narrow = (float)value;
        memcpy(element, kind->itemsize == 8 ? (void *)&value : (void *)&narrow, (size_t)kind->itemsize);
        return 0;
    }
    if (kind->family == 'b') {
        int truth = PyObject_IsTrue(number);
        *(char *)element = (char)truth;
        return truth < 0 ? -1 : 0;
    }
    return unbox_integer(kind, number, element);
}
