// What the search for callables asks most: which names of a namespace can lead to one, and whether modules
// changed since the last search.
// SPDX-License-Identifier: MIT
#include "module/native.h"

static PyObject *fget, *fset, *fdel, *func; // owned, for the life of the process: interned

static int is_python(PyObject *value /* borrowed, or NULL */) {
    return value && (value == Py_None || PyFunction_Check(value));
}

// Whether an attribute that CPython's own descriptor reads is None or a function written in Python.
static int leads_to_python(PyObject *value, PyObject *name) {
    _owned_ PyObject *held = PyObject_GetAttr(value, name);
    return is_python(held);
}

static int is_pythons_accessor(PyObject *value) {
    if (Py_IS_TYPE(value, &PyProperty_Type)) {
        return leads_to_python(value, fget) && leads_to_python(value, fset) && leads_to_python(value, fdel);
    }
    int binds = Py_IS_TYPE(value, &PyClassMethod_Type) || Py_IS_TYPE(value, &PyStaticMethod_Type);
    return binds && leads_to_python(value, func);
}

// Whether an object of another type can lead to a function of C: one with a vectorcall pointer, an accessor,
// and by its name what pybind11 and cffi make and what CPython calls a descriptor.
static int may_lead(PyTypeObject *type) {
    static const char *const names[] = {"instancemethod", "Lib", "wrapper_descriptor", "getset_descriptor",
                                        "member_descriptor"};
    if (type->tp_flags & Py_TPFLAGS_HAVE_VECTORCALL || type == &PyClassMethodDescr_Type ||
        type == &PyClassMethod_Type || type == &PyStaticMethod_Type ||
        PyType_IsSubtype(type, &PyProperty_Type)) {
        return 1;
    }
    const char *dot = strrchr(type->tp_name, '.'), *name = dot ? dot + 1 : type->tp_name;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(names); i++) {
        if (strcmp(name, names[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

// No function of C is behind it.
static int is_plain(PyObject *value) {
    if (PyFunction_Check(value) || is_pythons_accessor(value)) {
        return 1;
    }
    return !PyType_Check(value) && !may_lead(Py_TYPE(value));
}

typedef struct {
    PyObject *list; // borrowed: names and values in turn, filled from its beginning
    Py_ssize_t count;
    int wrappers, getsets, members;
} sifted;

// Makes nothing that the collector tracks: it would run, and with it code that may change the namespace.
static void sift(PyObject *key, PyObject *value, sifted *ret) {
    int *counted = Py_IS_TYPE(value, &PyWrapperDescr_Type)  ? &ret->wrappers
                   : Py_IS_TYPE(value, &PyGetSetDescr_Type) ? &ret->getsets
                   : Py_IS_TYPE(value, &PyMemberDescr_Type) ? &ret->members
                                                            : NULL;
    if (counted) {
        *counted += 1;
    } else if (!is_plain(value)) {
        PyList_SET_ITEM(ret->list, ret->count, Py_NewRef(key));
        PyList_SET_ITEM(ret->list, ret->count + 1, Py_NewRef(value));
        ret->count += 2;
    }
}

static PyObject *targets_sift(PyObject *module, PyObject *owner) {
    _owned_ PyObject *names =
        PyType_Check(owner) ? compat_type_dict((PyTypeObject *)owner) : Py_NewRef(owner);
    if (names && !PyDict_Check(names)) {
        return PyErr_Format(PyExc_TypeError, "targets_sift() takes a type or a dict");
    }
    Py_ssize_t most = names ? PyDict_GET_SIZE(names) : 0;
    _owned_ PyObject *list = PyList_New(2 * most);
    if (!list) {
        return NULL;
    }
    sifted found = {.list = list};
    PyObject *key, *value; // borrowed
    for (Py_ssize_t at = 0; names && found.count < 2 * most && PyDict_Next(names, &at, &key, &value);) {
        sift(key, value, &found);
    }
    PyErr_Clear();
    if (PyList_SetSlice(list, found.count, 2 * most, NULL) < 0) {
        return NULL;
    }
    return Py_BuildValue("(Oiii)", list, found.wrappers, found.getsets, found.members);
}

static uint64_t mixed(uint64_t mark, uint64_t word) {
    mark = (mark ^ word) * 0x9E3779B97F4A7C15ULL;
    return mark ^ mark >> 29;
}

static PyObject *targets_mark(PyObject *module, PyObject *unused) {
    PyObject *modules = PyImport_GetModuleDict(); // borrowed
    PyObject *key, *value;                        // borrowed
    uint64_t mark = 0;
    for (Py_ssize_t at = 0; PyDict_Check(modules) && PyDict_Next(modules, &at, &key, &value);) {
        mark = mixed(mixed(mark, (uintptr_t)key), (uintptr_t)value);
        PyObject *names = PyModule_Check(value) ? PyModule_GetDict(value) : NULL; // borrowed
        if (names) {
            mark = mixed(mixed(mark, (uintptr_t)names), (uint64_t)PyDict_GET_SIZE(names));
        }
    }
    return PyLong_FromUnsignedLongLong(mark);
}

int targets_exec(PyObject *module) {
    fget = PyUnicode_InternFromString("fget");
    fset = PyUnicode_InternFromString("fset");
    fdel = PyUnicode_InternFromString("fdel");
    func = PyUnicode_InternFromString("__func__");
    return !fget || !fset || !fdel || !func
               ? -1
               : ADD_FUNCTIONS(module, {"targets_sift", targets_sift, METH_O, NULL},
                               {"targets_mark", targets_mark, METH_NOARGS, NULL});
}
