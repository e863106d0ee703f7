// Hash and equality of builtin functions, kept while their pointers are replaced.
//
// CPython makes both of `ml_meth` (meth_hash in Objects/methodobject.c): a dict of functions, made before
// they were armed, would no longer find them. Meanwhile both slots of the two types ask CPython's own of a
// copy that has the original pointer.
//
// SPDX-License-Identifier: MIT
#include "trace/arm/calls.h"

typedef struct {
    PyCFunctionObject function;
    PyMethodDef row;
} unarmed; // a copy: its references are borrowed

static PyTypeObject *const kinds[] = {&PyCFunction_Type, &PyCMethod_Type};
static uintptr_t (*original_of)(uintptr_t pointer);
static hashfunc original_hash; // NULL: not armed
static richcmpfunc original_compare;

static PyObject *unarm(PyObject *object, unarmed *ret) {
    ret->function = *(PyCFunctionObject *)object;
    ret->row = *ret->function.m_ml;
    uintptr_t original = original_of((uintptr_t)(void *)ret->row.ml_meth);
    ret->row.ml_meth = original ? (PyCFunction)(void *)original : ret->row.ml_meth;
    ret->function.m_ml = &ret->row;
    return (PyObject *)&ret->function;
}

static Py_hash_t hash(PyObject *object) {
    unarmed copy;
    return original_hash(unarm(object, &copy));
}

static PyObject *compare(PyObject *left, PyObject *right, int operation) {
    unarmed copy, other;
    int is_function = PyCFunction_Check(right);
    return original_compare(unarm(left, &copy), is_function ? unarm(right, &other) : right, operation);
}

void function_hash_arm(uintptr_t (*original)(uintptr_t pointer)) {
    if (original_hash) {
        return;
    }
    original_of = original;
    original_hash = PyCFunction_Type.tp_hash;
    original_compare = PyCFunction_Type.tp_richcompare;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(kinds); i++) {
        kinds[i]->tp_hash = hash;
        kinds[i]->tp_richcompare = compare;
    }
}

void function_hash_disarm(void) {
    for (size_t i = 0; original_hash && i < Py_ARRAY_LENGTH(kinds); i++) {
        kinds[i]->tp_hash = original_hash;
        kinds[i]->tp_richcompare = original_compare;
    }
    original_hash = NULL;
}
