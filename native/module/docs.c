// Docstrings of the compiled module: sets `__doc__` and `__text_signature__` from the stub.
//
// The texts are written in inspector/_native.pyi only, beside the signatures that type checkers read (an idea
// of drgn's). module/docstrings.py turns them into docstrings.h at build time, so a method table says NULL
// where a docstring would be. This part is the last in the list: it looks up each name in the finished module
// and points its row at the text. The texts are static: nothing frees them.
// SPDX-License-Identifier: MIT
#include "module/native.h"

typedef struct {
    const char *name; // "read", "Subject", "Subject.get"
    const char *text;
} docs_row;

#include "docstrings.h"

// What `owner` (the module, or one of its types) has under `name`, or NULL without an exception. Borrowed.
static PyObject *docs_find(PyObject *owner, const char *name) {
    PyObject *dict; // borrowed
    dict = PyModule_Check(owner) ? PyModule_GetDict(owner) : ((PyTypeObject *)owner)->tp_dict;
    return PyDict_GetItemString(dict, name); // borrowed
}

static int docs_set_type(PyTypeObject *type, const char *text) {
    _owned_ PyObject *words = PyUnicode_FromString(text);
    if (!words || PyDict_SetItemString(type->tp_dict, "__doc__", words) < 0) {
        return -1;
    }
    PyType_Modified(type);
    return 0;
}

static int docs_set(PyObject *found, const char *text) {
    if (PyCFunction_Check(found)) {
        ((PyCFunctionObject *)found)->m_ml->ml_doc = text;
    } else if (Py_IS_TYPE(found, &PyMethodDescr_Type)) {
        ((PyMethodDescrObject *)found)->d_method->ml_doc = text;
    } else if (Py_IS_TYPE(found, &PyGetSetDescr_Type)) {
        ((PyGetSetDescrObject *)found)->d_getset->doc = text;
    } else if (PyType_Check(found)) {
        return docs_set_type((PyTypeObject *)found, text);
    }
    return 0;
}

int docs_exec(PyObject *module) {
    for (size_t i = 0; i < sizeof docs_rows / sizeof *docs_rows; i++) {
        char name[128];
        PyObject *owner = module; // borrowed
        PyOS_snprintf(name, sizeof name, "%s", docs_rows[i].name);
        char *member = strchr(name, '.');
        if (member) {
            *member++ = 0;
            owner = docs_find(module, name);
        }
        PyObject *found = owner ? docs_find(owner, member ? member : name) : NULL; // borrowed
        if (found && docs_set(found, docs_rows[i].text) < 0) {
            return -1;
        }
    }
    return 0;
}
