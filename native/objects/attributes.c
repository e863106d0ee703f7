// Which of some names an instance has among its own attributes, read where they lie.
//
// An attribute lookup may run the user's code (`__getattr__`, a property, a key's `__eq__`) and makes the
// `__dict__` of an instance that had none yet. Here the instance's values, or the dict it has already, are
// read; a key that is no exact str is passed by. All pointers are borrowed; the GIL is held.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "objects/objects.h"

enum { ENTRIES_MAX = 10000 }; // of a dict that has other keys than str: it is walked

static int is_name(PyObject *key, PyObject *name) {
    return key == name || (key && PyUnicode_CheckExact(key) && PyUnicode_Compare(key, name) == 0);
}

static int in_values(PyObject *object, PyObject *name) {
    const PyDictValues *values = compat_instance_values(object);
    PyDictKeysObject *keys = values ? ((PyHeapTypeObject *)Py_TYPE(object))->ht_cached_keys : NULL;
    for (Py_ssize_t i = 0; keys && i < keys->dk_nentries; i++) {
        if (values->values[i] && is_name(DK_UNICODE_ENTRIES(keys)[i].me_key, name)) {
            return 1;
        }
    }
    return 0;
}

static int in_own_dict(PyObject *object, PyObject *name) {
    PyObject *dict = links_own_dict(object);
    if (!dict || !PyDict_Check(dict)) {
        return 0;
    }
    if (((PyDictObject *)dict)->ma_keys->dk_kind != DICT_KEYS_GENERAL) {
        return PyDict_GetItemWithError(dict, name) != NULL; // keys of str only: no user code compares
    }
    PyObject *key;
    Py_ssize_t position = 0;
    for (int seen = 0; seen < ENTRIES_MAX && PyDict_Next(dict, &position, &key, NULL); seen++) {
        if (is_name(key, name)) {
            return 1;
        }
    }
    return 0;
}

static PyObject *attributes_own(PyObject *module /* borrowed */, PyObject *args /* borrowed */) {
    PyObject *object, *names; // borrowed
    if (!PyArg_ParseTuple(args, "OO!:own_attributes", &object, &PyTuple_Type, &names)) {
        return NULL;
    }
    PyObject *_owned_ found = PyList_New(0);
    for (Py_ssize_t i = 0; found && !PyType_Check(object) && i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        if (!PyUnicode_CheckExact(name)) {
            return PyErr_Format(PyExc_TypeError, "names are str");
        }
        if ((in_values(object, name) || in_own_dict(object, name)) && PyList_Append(found, name) < 0) {
            return NULL;
        }
    }
    return found ? PyList_AsTuple(found) : NULL;
}

PART_FUNCTIONS(attributes, {"own_attributes", attributes_own, METH_VARARGS, NULL})
