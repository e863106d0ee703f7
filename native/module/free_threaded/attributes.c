// As objects/attributes.c, on a free-threaded CPython: which of some names an instance has among its own
// attributes; and under which name it has an object.
//
// Threads. A class keeps the keys that its instances share as long as it lives, and removes none. Another
// thread may replace the instance's dict: CPython frees the old one late, so that it can be taken without a
// lock, as its own attribute lookup does. The dict itself is locked while it is read.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#define Py_BUILD_CORE 1
#define Py_BUILD_CORE_MODULE 1
#include "module/native.h"

#include <internal/pycore_dict.h>
#include <internal/pycore_object.h>

enum { ENTRIES_MAX = 10000 }; // of a dict that has other keys than str: it is walked

static int is_name(PyObject *key, PyObject *name) {
    return key == name || (key && PyUnicode_CheckExact(key) && PyUnicode_Compare(key, name) == 0);
}

// The key of a value of the instance: that is `target`, or, where that is NULL, whose key is `name`.
// Borrowed.
static PyObject *in_values(PyObject *object, PyObject *name, PyObject *target) {
    if (!PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_INLINE_VALUES)) {
        return NULL;
    }
    PyDictValues *values = _PyObject_InlineValues(object);
    PyDictKeysObject *keys = ((PyHeapTypeObject *)Py_TYPE(object))->ht_cached_keys;
    Py_ssize_t count = keys ? _Py_atomic_load_ssize_acquire(&keys->dk_nentries) : 0;
    for (Py_ssize_t i = 0; _Py_atomic_load_uint8(&values->valid) && i < count && i < values->capacity; i++) {
        PyObject *value = _Py_atomic_load_ptr_acquire(&values->values[i]); // may go: never followed
        PyObject *key = _Py_atomic_load_ptr_acquire(&DK_UNICODE_ENTRIES(keys)[i].me_key);
        if (value && (target ? value == target : is_name(key, name))) {
            return key;
        }
    }
    return NULL;
}

// The dict that is the namespace of an instance or a module: a new reference, or NULL; none is made.
static PyObject *own_dict(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    if (PyType_HasFeature(type, Py_TPFLAGS_MANAGED_DICT)) {
        return Py_XNewRef((PyObject *)_PyObject_GetManagedDict(object));
    }
    Py_ssize_t offset = type->tp_dictoffset;
    if (offset < 0) { // counted from the end of a variable-sized object
        offset += (Py_ssize_t)_PyObject_VAR_SIZE(type, Py_ABS(Py_SIZE(object)));
    }
    return offset > 0 ? Py_XNewRef(_Py_atomic_load_ptr_acquire((PyObject **)((char *)object + offset)))
                      : NULL;
}

// The same of a dict, which is locked.
static PyObject *in_dict(PyObject *dict, PyObject *name, PyObject *target) {
    PyObject *key, *value; // borrowed
    Py_ssize_t position = 0;
    for (int seen = 0; seen < ENTRIES_MAX && PyDict_Next(dict, &position, &key, &value); seen++) {
        if (target ? value == target : is_name(key, name)) {
            return key;
        }
    }
    return NULL;
}

// A new reference, or NULL without an exception.
static PyObject *name_of(PyObject *object, PyObject *name, PyObject *target) {
    PyObject *found = Py_XNewRef(in_values(object, name, target));
    _owned_ PyObject *dict = found ? NULL : own_dict(object);
    if (dict && PyDict_Check(dict)) {
        Py_BEGIN_CRITICAL_SECTION(dict);
        found = Py_XNewRef(in_dict(dict, name, target));
        Py_END_CRITICAL_SECTION();
    }
    return found;
}

static PyObject *attributes_own(PyObject *module /* borrowed */, PyObject *args /* borrowed */) {
    PyObject *object, *names; // borrowed
    if (!PyArg_ParseTuple(args, "OO!:own_attributes", &object, &PyTuple_Type, &names)) {
        return NULL;
    }
    PyObject *_owned_ found = PyList_New(0);
    for (Py_ssize_t i = 0; found && !PyType_Check(object) && i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i); // borrowed
        _owned_ PyObject *own = name_of(object, name, NULL);
        if (own && PyList_Append(found, name) < 0) {
            return NULL;
        }
    }
    return found ? PyList_AsTuple(found) : NULL;
}

static PyObject *attributes_of(PyObject *module /* borrowed */, PyObject *args /* borrowed */) {
    PyObject *object, *target; // borrowed
    if (!PyArg_ParseTuple(args, "OO:attribute_of", &object, &target)) {
        return NULL;
    }
    PyObject *name = PyType_Check(object) ? NULL : name_of(object, NULL, target);
    return name ? name : Py_NewRef(Py_None);
}

static PyObject *attributes_dict(PyObject *module /* borrowed */, PyObject *object /* borrowed */) {
    PyObject *dict = PyType_Check(object) ? NULL : own_dict(object);
    return dict ? dict : Py_NewRef(Py_None);
}

PART_FUNCTIONS(attributes, {"attribute_of", attributes_of, METH_VARARGS, NULL},
               {"own_dict", attributes_dict, METH_O, NULL},
               {"own_attributes", attributes_own, METH_VARARGS, NULL})
