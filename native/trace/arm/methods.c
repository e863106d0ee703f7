// Finds the function pointers behind callables, for trace/arm/calls.c to arm: method rows and vectorcalls.
//
// A builtin function, a method and a class method of C are thin objects around a PyMethodDef. CPython reads
// its ml_meth at every call, also in specialised opcodes, so replacing it acts on all live objects that share
// the row. Callables of other types (NumPy's ufuncs and dispatchers, nanobind's and Cython's functions) are
// called through their own vectorcall pointer, at an offset given by their type. Python functions are left
// out: CPython compares their pointer by identity.
// SPDX-License-Identifier: MIT
#include "objects/objects.h"
#include "objects/spans.h"
#include "trace/arm/calls.h"
#include "trace/record/convention.h"
#include "trace/record/ring.h"
#include "trace/record/sites.h"
#include "trace/values/call_values.h"

static int convention_of(int flags) { // -1: not a convention of CPython's
    switch (flags & (METH_VARARGS | METH_FASTCALL | METH_NOARGS | METH_O | METH_KEYWORDS | METH_METHOD)) {
    case METH_VARARGS:
        return CALL_VARARGS;
    case METH_VARARGS | METH_KEYWORDS:
        return CALL_KEYWORDS;
    case METH_FASTCALL:
        return CALL_FASTCALL;
    case METH_FASTCALL | METH_KEYWORDS:
        return CALL_FAST_NAMES;
    case METH_METHOD | METH_FASTCALL | METH_KEYWORDS:
        return CALL_METHOD;
    case METH_NOARGS:
        return CALL_NOARGS;
    case METH_O:
        return CALL_O;
    default:
        return -1;
    }
}

static PyMethodDef *method_row(PyObject *callable) { // borrowed, or NULL
    PyTypeObject *type = Py_TYPE(callable);
    if (type == &PyCFunction_Type || type == &PyCMethod_Type) {
        return ((PyCFunctionObject *)callable)->m_ml;
    }
    int described = type == &PyMethodDescr_Type || type == &PyClassMethodDescr_Type;
    return described ? ((PyMethodDescrObject *)callable)->d_method : NULL;
}

static uintptr_t *vectorcall_place(PyObject *callable) { // NULL where it has no pointer of its own
    PyTypeObject *type = Py_TYPE(callable);
    if (!(type->tp_flags & Py_TPFLAGS_HAVE_VECTORCALL) || type == &PyFunction_Type ||
        type == &PyMethod_Type || PyType_Check(callable) || type->tp_vectorcall_offset <= 0) {
        return NULL;
    }
    uintptr_t *place = (uintptr_t *)((char *)callable + type->tp_vectorcall_offset);
    return *place ? place : NULL;
}

// Rows whose function CPython compares by identity (Objects/typeobject.c): __new__ and the methods of object.
static int is_compared(PyObject *callable, const PyMethodDef *row) {
    int described = !PyCFunction_Check(callable);
    return strcmp(row->ml_name, "__new__") == 0 ||
           (described && ((PyDescrObject *)callable)->d_type == &PyBaseObject_Type);
}

// Calls a type without a vectorcall of its own through its tp_call, with a tuple and a dict.
static PyObject *construct(PyObject *type, PyObject *const *items, size_t counted, PyObject *names) {
    Py_ssize_t count = calls_positional(counted);
    _owned_ PyObject *args = PyTuple_New(count);
    _owned_ PyObject *keywords = names && PyTuple_GET_SIZE(names) ? PyDict_New() : NULL;
    if (!args || (names && PyTuple_GET_SIZE(names) && !keywords)) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyTuple_SET_ITEM(args, i, Py_NewRef(items[i]));
    }
    for (Py_ssize_t i = 0; keywords && i < PyTuple_GET_SIZE(names); i++) {
        if (PyDict_SetItem(keywords, PyTuple_GET_ITEM(names, i), items[count + i]) < 0) {
            return NULL;
        }
    }
    return Py_TYPE(type)->tp_call(type, args, keywords);
}

// A type written in C is called through its tp_vectorcall. Where that is empty CPython falls back to tp_call,
// and `construct` does the same. The specialised opcode for builtin classes checks for an empty one at each
// call. Types of class statements, which have none, are left out: CPython may enter their __init__ without
// it.
static int arm_type(PyTypeObject *type) {
    uintptr_t *place = (uintptr_t *)(void *)&type->tp_vectorcall;
    int is_statement = type->tp_flags & Py_TPFLAGS_HEAPTYPE && !(type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE);
    if ((is_statement && !*place) || Py_TYPE(type) != &PyType_Type || type == &PyType_Type ||
        type == &PyBaseObject_Type) {
        return CALLS_UNSEEN;
    }
    uintptr_t called = *place ? *place : (uintptr_t)construct;
    return calls_arm_empty(place, EVENT_VECTORCALL, CALL_VECTOR, called, (PyObject *)type);
}

static int arm_one(PyObject *callable) {
    if (PyType_Check(callable)) {
        return arm_type((PyTypeObject *)callable);
    }
    PyMethodDef *row = method_row(callable);
    if (row && is_compared(callable, row)) {
        return CALLS_UNSEEN;
    }
    if (row) {
        int convention = convention_of(row->ml_flags);
        return convention < 0 || !row->ml_meth ? CALLS_UNSEEN
                                               : calls_arm((uintptr_t *)(void *)&row->ml_meth, EVENT_METHOD,
                                                           (call_convention)convention, callable);
    }
    uintptr_t *place = vectorcall_place(callable);
    return place ? calls_arm(place, EVENT_VECTORCALL, CALL_VECTOR, callable) : CALLS_UNSEEN;
}

static PyObject *methods_arm(PyObject *module, PyObject *callables) {
    if (!PyList_CheckExact(callables)) {
        return PyErr_Format(PyExc_TypeError, "methods_arm() takes a list");
    }
    spans_prepare();
    arrays_prepare();
    calls_forget_pages();
    function_hash_arm(calls_original);
    _owned_ PyObject *numbers = PyList_New(0);
    for (Py_ssize_t i = 0; numbers && i < PyList_GET_SIZE(callables); i++) {
        if (list_add(numbers, PyLong_FromLong(arm_one(PyList_GET_ITEM(callables, i)))) < 0) {
            return NULL;
        }
    }
    return take(numbers);
}

static PyObject *methods_open(PyObject *module, PyObject *open) {
    call_values_open = open != Py_True                   ? CALL_VALUES_CLOSED
                       : ring_wanted.mode == RING_SAMPLE ? CALL_VALUES_SAMPLE
                                                         : CALL_VALUES_ALL;
    sites_forget();
    Py_RETURN_NONE;
}

static PyObject *methods_of_stdlib(PyObject *module, PyObject *recorded) {
    call_values_of_stdlib = recorded == Py_True;
    Py_RETURN_NONE;
}

PART_FUNCTIONS(methods, {"methods_arm", methods_arm, METH_O, NULL},
               {"calls_open", methods_open, METH_O, NULL},
               {"calls_of_stdlib", methods_of_stdlib, METH_O, NULL})
