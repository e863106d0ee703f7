// Twelve faults in the stable ABI and their honest twins; what is expected of each: leaks_of_bindings.py.
// SPDX-License-Identifier: MIT
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdlib.h>
#define F(name) static PyObject *name(PyObject *self, PyObject *x)
#define BOTH(name) /* a fault and its twin, which differ in one reference */ \
    static PyObject *name(PyObject *x, int is_honest); \
    F(name##_fault) { return name(x, 0); } \
    F(name##_honest) { return name(x, 1); } \
    static PyObject *name(PyObject *x, int is_honest)
PyObject *PyWeakref_GetObject(PyObject *); // in no header from 3.15 on, and still in the stable ABI
static PyObject *tp_fault, *tp_honest;
static void d_fault(PyObject *self) {
    freefunc f = (freefunc)PyType_GetSlot(Py_TYPE(self), Py_tp_free);
    f(self);
}
static void d_honest(PyObject *self) {
    PyTypeObject *t = Py_TYPE(self);
    freefunc f = (freefunc)PyType_GetSlot(t, Py_tp_free);
    f(self);
    Py_DECREF(t);
}
static PyType_Slot s_fault[] = {{Py_tp_dealloc, d_fault}, {0, NULL}},
                   s_honest[] = {{Py_tp_dealloc, d_honest}, {0, NULL}};
static PyType_Spec p_fault = {"leaks_of_stable_abi.Bad", sizeof(void *) * 4, 0, Py_TPFLAGS_DEFAULT, s_fault},
                   p_honest = {"leaks_of_stable_abi.Ok", sizeof(void *) * 4, 0, Py_TPFLAGS_DEFAULT, s_honest};
F(heap_fault) { // fault
    PyObject *o = PyObject_CallNoArgs(tp_fault);
    Py_XDECREF(o);
    Py_RETURN_NONE;
}
F(heap_honest) {
    PyObject *o = PyObject_CallNoArgs(tp_honest);
    Py_XDECREF(o);
    Py_RETURN_NONE;
}
BOTH(seterr) {
    PyObject *v = PyUnicode_FromFormat("bad value %d", 4444); // fault
    PyErr_SetObject(PyExc_ValueError, v);
    if (is_honest)
        Py_DECREF(v);
    return NULL;
}
BOTH(listset) {
    PyObject *l = PyList_New(1);
    PyObject *v = PyUnicode_FromFormat("v %d", 33333);
    PyList_SetItem(l, 0, v); // fault
    if (!is_honest)
        Py_DECREF(v);
    return l;
}
BOTH(getitem) {
    PyObject *k = PyUnicode_FromString("key"), *v = PyDict_GetItemWithError(x, k); // fault
    Py_DECREF(k);
    if (is_honest)
        Py_INCREF(v);
    Py_DECREF(v);
    return PyLong_FromLong(3);
}
BOTH(format) {
    PyObject *r = PyObject_CallMethod(x, "split", "s", ","); // fault
    if (!r)
        return NULL;
    long n = PyList_Size(r) > 1;
    if (is_honest || !n)
        Py_DECREF(r);
    return PyLong_FromLong(n);
}
F(incref_fault) { // fault
    Py_INCREF(x);
    return PyLong_FromLong(1);
}
F(incref_honest) {
    Py_INCREF(x);
    Py_DECREF(x);
    return PyLong_FromLong(1);
}
F(newref_fault) { // fault
    PyObject *y = Py_NewRef(x);
    return PyBool_FromLong(PyObject_Size(y));
}
F(newref_honest) {
    PyObject *y = Py_NewRef(x);
    long n = PyObject_Size(y);
    Py_DecRef(y);
    return PyBool_FromLong(n);
}
F(returnarg_fault) { return x; } // fault
F(returnarg_honest) { return Py_NewRef(x); }
BOTH(kw) {
    PyObject *t = PyTuple_Pack(1, x), *d = PyDict_New(); // fault
    PyObject *r = PyObject_Call((PyObject *)&PyList_Type, t, d);
    Py_DECREF(t);
    if (is_honest)
        Py_DECREF(d);
    return r;
}
F(norm_fault) { // fault
    PyErr_SetString(PyExc_KeyError, "gone");
    PyErr_Clear();
    return NULL;
}
F(norm_honest) {
    PyErr_SetString(PyExc_KeyError, "gone");
    return NULL;
}
BOTH(weak) {
    PyObject *w = PyWeakref_NewRef(x, NULL); // fault
    long n = PyWeakref_GetObject(w) == x;
    if (is_honest)
        Py_DECREF(w);
    return PyBool_FromLong(n);
}
BOTH(import) {
    PyObject *m = PyImport_ImportModule("colorsys"), *f = PyObject_GetAttrString(m, "rgb_to_hsv"); // fault
    Py_DECREF(f);
    if (is_honest)
        Py_DECREF(m);
    return PyLong_FromLong(1);
}
#define M(n) {#n "_fault", n##_fault, METH_O, NULL}, {#n "_honest", n##_honest, METH_O, NULL},
static PyMethodDef methods[] = {M(heap) M(seterr) M(listset) M(getitem) M(format) M(incref) M(newref)
                                    M(returnarg) M(kw) M(norm) M(weak) M(import){NULL}};
static struct PyModuleDef def = {PyModuleDef_HEAD_INIT, "leaks_of_stable_abi", NULL, -1, methods};
PyMODINIT_FUNC PyInit_leaks_of_stable_abi(void) {
    PyObject *m = PyModule_Create(&def);
    tp_fault = PyType_FromSpec(&p_fault);
    tp_honest = PyType_FromSpec(&p_honest);
    PyModule_AddObject(m, "Bad", Py_NewRef(tp_fault));
    PyModule_AddObject(m, "Ok", Py_NewRef(tp_honest));
    return m;
}
