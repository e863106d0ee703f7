// The own attributes of an instance, and which of some names it has, read where they lie.
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

// Fills pairs of (name, value); the number of pairs. Nothing is allocated: no garbage collection runs
// meanwhile.
static Py_ssize_t fill_pairs(PyObject *object, PyObject *dict, PyObject *pairs, Py_ssize_t room) {
    const PyDictValues *values = compat_instance_values(object);
    PyDictKeysObject *keys = values ? ((PyHeapTypeObject *)Py_TYPE(object))->ht_cached_keys : NULL;
    PyObject *key, *value; // borrowed
    Py_ssize_t position = 0, count = 0;
    for (Py_ssize_t i = 0; keys && i < keys->dk_nentries && count < room; i++) {
        if (values->values[i]) {
            PyTuple_SET_ITEM(pairs, 2 * count, Py_NewRef(DK_UNICODE_ENTRIES(keys)[i].me_key));
            PyTuple_SET_ITEM(pairs, 2 * count++ + 1, Py_NewRef(values->values[i]));
        }
    }
    while (!keys && dict && count < room && PyDict_Next(dict, &position, &key, &value)) {
        if (PyUnicode_CheckExact(key)) {
            PyTuple_SET_ITEM(pairs, 2 * count, Py_NewRef(key));
            PyTuple_SET_ITEM(pairs, 2 * count++ + 1, Py_NewRef(value));
        }
    }
    return count;
}

static PyObject *attributes_of(PyObject *module /* borrowed */, PyObject *object /* borrowed */) {
    const PyDictValues *values = compat_instance_values(object);
    PyObject *dict = PyType_Check(object) ? NULL : links_own_dict(object); // borrowed
    PyDictKeysObject *keys = values ? ((PyHeapTypeObject *)Py_TYPE(object))->ht_cached_keys : NULL;
    Py_ssize_t room = keys ? keys->dk_nentries : dict && PyDict_Check(dict) ? PyDict_GET_SIZE(dict) : 0;
    room = room < ENTRIES_MAX ? room : ENTRIES_MAX;
    _owned_ PyObject *pairs = PyTuple_New(2 * room);
    if (!pairs) {
        return NULL;
    }
    dict = PyType_Check(object) ? NULL : links_own_dict(object); // the allocation may have collected garbage
    Py_ssize_t count = fill_pairs(object, dict && PyDict_Check(dict) ? dict : NULL, pairs, room);
    return PyTuple_GetSlice(pairs, 0, 2 * count);
}

PART_FUNCTIONS(attributes, {"own_attributes", attributes_own, METH_VARARGS, NULL},
               {"attributes_of", attributes_of, METH_O, NULL})
