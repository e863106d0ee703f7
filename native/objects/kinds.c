// Whether an object is of exactly one of some classes, told by addresses.
//
// `type(object) in (list, tuple)` asks the class of the object for `==`, and a set of classes for its hash:
// both are code of a metaclass of the user's.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#include "module/native.h"

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
