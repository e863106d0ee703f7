# cython: language_level=3
# Faults in Cython and their honest twins; what is expected of each: leaks_of_bindings.py.
# SPDX-License-Identifier: MIT
from cpython.ref cimport PyObject, Py_INCREF, Py_DECREF, Py_XDECREF
from cpython.list cimport PyList_New, PyList_SET_ITEM
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM
from cpython.buffer cimport PyObject_GetBuffer, PyBuffer_Release, PyBUF_SIMPLE
from cpython.pycapsule cimport PyCapsule_New, PyCapsule_GetPointer
from cpython.mem cimport PyMem_Malloc, PyMem_Free
from libc.stdlib cimport malloc, free
cdef extern from "Python.h":
    PyObject *raw_getattr "PyObject_GetAttrString"(object, const char *) except NULL
    PyObject *raw_list "PySequence_List"(object) except NULL
    object wrong_getitem "PyDict_GetItemString"(object, const char *)
    PyObject *right_getitem "PyDict_GetItemString"(object, const char *)
    PyObject *raw_str "PyObject_Str"(object) except NULL
    object right_list "PySequence_List"(object)
cdef PyObject *kept[16]
cdef int many = 0
cdef dict memo = {}
def incref_fault(x):  # fault
    Py_INCREF(x)
    return 1
def incref_honest(x):
    Py_INCREF(x)
    Py_DECREF(x)
    return 1
def decref_fault(x):  # fault
    cdef PyObject *p = <PyObject *>x
    Py_DECREF(<object>p)
    return 1
def decref_honest(x):
    cdef PyObject *p = <PyObject *>x
    Py_INCREF(<object>p)
    Py_DECREF(<object>p)
    return 1
def setitem_fault(list x):
    cdef list l = PyList_New(1)
    v = x[0]
    PyList_SET_ITEM(l, 0, v)  # fault
    return l
def setitem_honest(list x):
    cdef list l = PyList_New(1)
    v = x[0]
    Py_INCREF(v)
    PyList_SET_ITEM(l, 0, v)
    return l
def tupitem_fault(x):
    cdef tuple l = PyTuple_New(2)
    v, w = str(x) + "made", None  # fault
    Py_INCREF(v); Py_INCREF(v)
    Py_INCREF(w)
    PyTuple_SET_ITEM(l, 0, v)
    PyTuple_SET_ITEM(l, 1, w)
    return l
def tupitem_honest(x):
    cdef tuple l = PyTuple_New(2)
    v, w = str(x) + "made", None
    Py_INCREF(v)
    Py_INCREF(w)
    PyTuple_SET_ITEM(l, 0, v)
    PyTuple_SET_ITEM(l, 1, w)
    return l
def error_fault(x):
    cdef list l = [x, x]  # fault
    Py_INCREF(l)
    n = int(x)
    Py_DECREF(l)
    return n
def error_honest(x):
    cdef list l = [x, x]
    Py_INCREF(l)
    try:
        return int(x)
    finally:
        Py_DECREF(l)
def buffer_fault(x):
    cdef Py_buffer b
    PyObject_GetBuffer(x, &b, PyBUF_SIMPLE)  # fault
    return b.len
def buffer_honest(x):
    cdef Py_buffer b
    PyObject_GetBuffer(x, &b, PyBUF_SIMPLE)
    try: return b.len
    finally: PyBuffer_Release(&b)
def view_honest(x):
    cdef const unsigned char[:] v = x
    return v[0]
def capsule_fault(int n):
    cdef void *p = malloc(n * 8)  # fault
    return PyCapsule_New(p, "numbers", NULL)
cdef void drop(object c) noexcept:
    free(PyCapsule_GetPointer(c, "numbers"))
def capsule_honest(int n):
    return PyCapsule_New(malloc(n * 8), "numbers", drop)
cdef class Lossy:
    cdef double *p
    def __cinit__(self, int n):
        self.p = <double *>PyMem_Malloc(n * 8)  # fault of cinit_fault
cdef class Tidy:
    cdef double *p
    def __cinit__(self, int n): self.p = <double *>PyMem_Malloc(n * 8)
    def __dealloc__(self): PyMem_Free(self.p)
def cinit_fault(int n): return Lossy(n) is None
def cinit_honest(int n): return Tidy(n) is None
cdef class Pointing:
    cdef PyObject *o
    def __init__(self, x):  # fault of pointing_fault
        Py_INCREF(x)
        self.o = <PyObject *>x
cdef class PointingOk:
    cdef PyObject *o
    def __init__(self, x):
        Py_INCREF(x)
        self.o = <PyObject *>x
    def __dealloc__(self): Py_XDECREF(self.o)
def pointing_fault(x): return Pointing(x) is None
def pointing_honest(x): return PointingOk(x) is None
def alive_honest(x): return PointingOk(x)
def getattr_fault(x):
    o = <object>raw_getattr(x, "part")  # fault
    return len(o)
def getattr_honest(x):
    cdef PyObject *p = raw_getattr(x, "part")
    o = <object>p
    Py_DECREF(o)
    return len(o)
def list_fault(x):
    o = <object>raw_list(x)  # fault
    return len(o)
def list_honest(x):
    return len(right_list(x))
def borrowed_fault(dict d):
    o = wrong_getitem(d, "key")  # fault
    return len(o)
def borrowed_honest(dict d):
    o = <object>right_getitem(d, "key")
    return len(o)
def kept_at(int at):  # or the compiler drops `kept`
    return <object>kept[at]
def keep_honest(x):
    global many
    if many < 16:
        Py_INCREF(x)
        kept[many] = <PyObject *>x
        many += 1
    return many
def memo_honest(x):
    memo["x"] = [x]
    return memo["x"]
def strfor_fault(x):
    cdef PyObject *s
    n = 0
    for one in x:
        s = raw_str(one)  # fault
        n += len(<object>s)
    return n
def strfor_honest(x):
    cdef PyObject *s
    n = 0
    for one in x:
        s = raw_str(one)
        n += len(<object>s)
        Py_DECREF(<object>s)
    return n
def gen_honest(x):
    def inner():
        for one in x: yield str(one)
    g = inner()
    next(g)
    return g
cdef void cb(void *context) noexcept:
    (<object>context)(3)
def callback_fault(f):  # fault
    Py_INCREF(f)
    cb(<void *>f)
    return 1
def callback_honest(f):
    Py_INCREF(f)
    cb(<void *>f)
    Py_DECREF(f)
    return 1
