// Whether an object is of exactly one of some classes, told by addresses.
//
// `type(object) in (list, tuple)` asks the class of the object for `==`, and a set of classes for its hash:
// both are code of a metaclass of the user's.
//
// Names of types are read from their C structs. A static type's full name is tp_name. A heap type keeps
// `__module__` in its dict and its name in ht_qualname; both may be anything a program assigned, so they are
// taken only from exact str and written printable. A dict is searched by walking its entries and comparing
// exact str keys: a lookup by hash could run the __eq__ of a stranger's key. LOOKUP_MAX bounds the walk.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#include "objects/objects.h"

enum { LOOKUP_MAX = 4096, NAME_MAX_CHARS = 120, MRO_MAX = 64 };

PyObject *layout_lookup(PyObject *dict, const char *wanted) {
    PyObject *key, *value; // borrowed
    Py_ssize_t at = 0, seen = 0;
    if (!dict || !PyDict_Check(dict)) {
        return NULL;
    }
    while (seen++ < LOOKUP_MAX && PyDict_Next(dict, &at, &key, &value)) {
        if (PyUnicode_CheckExact(key) && PyUnicode_IS_READY(key) && PyUnicode_IS_COMPACT_ASCII(key) &&
            strcmp(PyUnicode_DATA(key), wanted) == 0) {
            return value;
        }
    }
    return NULL;
}

static PyObject *module_of_type(PyTypeObject *type) { // new exact str, or NULL without an exception
    _owned_ PyObject *dict = compat_type_dict(type);
    PyObject *module = layout_lookup(dict, "__module__"); // borrowed
    return module && PyUnicode_CheckExact(module) && PyUnicode_IS_READY(module) ? Py_NewRef(module) : NULL;
}

PyObject *layout_type_module(PyTypeObject *type) {
    if (type->tp_flags & Py_TPFLAGS_HEAPTYPE) {
        _owned_ PyObject *module = module_of_type(type);
        return module ? text_visible(module, NAME_MAX_CHARS) : PyUnicode_FromString("");
    }
    const char *dot = strrchr(type->tp_name, '.');
    _owned_ PyObject *name = dot ? PyUnicode_DecodeUTF8(type->tp_name, dot - type->tp_name, "replace")
                                 : PyUnicode_FromString("builtins");
    return name ? text_visible(name, NAME_MAX_CHARS) : NULL;
}

PyObject *layout_type_name(PyTypeObject *type) {
    PyObject *qualname = NULL; // borrowed
    if (type->tp_flags & Py_TPFLAGS_HEAPTYPE) {
        qualname = ((PyHeapTypeObject *)type)->ht_qualname;
    }
    if (!qualname || !PyUnicode_CheckExact(qualname) || !PyUnicode_IS_READY(qualname)) {
        return text_from_c(type->tp_name, NAME_MAX_CHARS);
    }
    _owned_ PyObject *module = module_of_type(type);
    if (!module || PyUnicode_CompareWithASCIIString(module, "builtins") == 0) {
        return text_visible(qualname, NAME_MAX_CHARS);
    }
    _owned_ PyObject *full = PyUnicode_FromFormat("%U.%U", module, qualname);
    return full ? text_visible(full, NAME_MAX_CHARS) : NULL;
}

PyObject *layout_type_names(PyObject *types) {
    Py_ssize_t count = types && PyTuple_Check(types) ? Py_MIN(PyTuple_GET_SIZE(types), MRO_MAX) : 0;
    _owned_ PyObject *names = PyTuple_New(count);
    for (Py_ssize_t i = 0; names && i < count; i++) {
        PyObject *base = PyTuple_GET_ITEM(types, i); // borrowed
        if (tuple_set(names, i,
                      PyType_Check(base) ? layout_type_name((PyTypeObject *)base)
                                         : text_from_c("?", NAME_MAX_CHARS)) < 0) {
            return NULL;
        }
    }
    return take(names);
}

static PyObject *kinds_exactly(PyObject *module /* borrowed */, PyObject *const *given /* borrowed */,
                               Py_ssize_t count) {
    for (Py_ssize_t i = 1; i < count; i++) {
        if ((PyObject *)Py_TYPE(given[0]) == given[i]) {
            Py_RETURN_TRUE;
        }
    }
    Py_RETURN_FALSE;
}

PART_FUNCTIONS(kinds, {"exactly", (PyCFunction)(void (*)(void))kinds_exactly, METH_FASTCALL, NULL})
