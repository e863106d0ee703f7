// Dead tuples, lists and dicts that CPython keeps for reuse, with what they held: their count is 0, their
// type is left. A block that was one of them and was given out anew may look just so as long as its new owner
// has not written those words: the interpreter's lists tell which it is.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "search/holders.h"

#if COMPAT_KEPT_CHAINED
// A chain through the first words of the dead objects, where their counts were.
static UNSANITIZED int is_chained(const struct _Py_freelist *kept, PyObject *object) {
    PyObject *at = kept->freelist;
    for (Py_ssize_t i = 0; at && at != object && i < kept->size; i++) {
        at = *(PyObject **)at;
    }
    return at == object;
}

static UNSANITIZED int is_kept(PyObject *object) {
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    if (Py_IS_TYPE(object, &PyTuple_Type)) {
        Py_ssize_t size = ((PyVarObject *)object)->ob_size;
        return size > 0 && size <= PyTuple_MAXSAVESIZE &&
               is_chained(&(*compat_kept_tuples(interpreter))[size - 1], object);
    }
    return is_chained(compat_kept_lists(interpreter), object) ||
           is_chained(compat_kept_dicts(interpreter), object);
}
#else
#define KEPT_AMONG(kept, object) \
    for (int i = 0; i < (kept)->numfree; i++) { \
        if ((PyObject *)(kept)->COMPAT_KEPT_ITEMS[i] == (object)) { \
            return 1; \
        } \
    }

// Tuples of one size are a chain through their first items.
static UNSANITIZED int is_kept(PyObject *object) {
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    if (Py_IS_TYPE(object, &PyTuple_Type)) {
        Py_ssize_t size = ((PyVarObject *)object)->ob_size;
        PyObject *at = size > 0 && size <= PyTuple_NFREELISTS
                           ? (PyObject *)compat_kept_tuples(interpreter)->COMPAT_KEPT_ITEMS[size - 1]
                           : NULL;
        for (int i = 0; at && at != object && i < PyTuple_MAXFREELIST; i++) {
            at = ((PyTupleObject *)at)->ob_item[0];
        }
        return at == object;
    }
    KEPT_AMONG(compat_kept_lists(interpreter), object)
    KEPT_AMONG(compat_kept_dicts(interpreter), object)
    return 0;
}
#endif

int free_lists_have(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    return compat_refcount(object) == 0 &&
           (type == &PyTuple_Type || type == &PyList_Type || type == &PyDict_Type) && is_kept(object);
}
