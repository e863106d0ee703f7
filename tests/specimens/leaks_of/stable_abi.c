// Twelve faults in the stable ABI and their honest twins; what is expected of each: leaks_of_bindings.py.
// SPDX-License-Identifier: MIT
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdlib.h>
#define F(name) static PyObject *name(PyObject *self, PyObject *x)
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
F(seterr_fault) {
    PyObject *v = PyUnicode_FromFormat("bad value %d", 4444); // fault
    PyErr_SetObject(PyExc_ValueError, v);
    return NULL;
}
F(seterr_honest) {
    PyObject *v = PyUnicode_FromFormat("bad value %d", 4444);
    PyErr_SetObject(PyExc_ValueError, v);
    Py_DECREF(v);
    return NULL;
}
F(listset_fault) {
    PyObject *l = PyList_New(1);
    PyObject *v = PyUnicode_FromFormat("v %d", 33333);
    PyList_SetItem(l, 0, v); // fault
    Py_DECREF(v);
    return l;
}
F(listset_honest) {
    PyObject *l = PyList_New(1);
    PyObject *v = PyUnicode_FromFormat("v %d", 33333);
    PyList_SetItem(l, 0, v);
    return l;
}
F(getitem_fault) {
    PyObject *k = PyUnicode_FromString("key"), *v = PyDict_GetItemWithError(x, k); // fault
    Py_DECREF(k);
    Py_DECREF(v);
    return PyLong_FromLong(3);
}
F(getitem_honest) {
    PyObject *k = PyUnicode_FromString("key"), *v = PyDict_GetItemWithError(x, k);
    Py_DECREF(k);
    Py_INCREF(v);
    Py_DECREF(v);
    return PyLong_FromLong(3);
}
F(format_fault) {
    PyObject *r = PyObject_CallMethod(x, "split", "s", ","); // fault
    if (!r)
        return NULL;
    if (PyList_Size(r) > 1)
        return PyLong_FromLong(1);
    Py_DECREF(r);
    return PyLong_FromLong(0);
}
F(format_honest) {
    PyObject *r = PyObject_CallMethod(x, "split", "s", ",");
    if (!r)
        return NULL;
    long n = PyList_Size(r) > 1;
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
F(kw_fault) {
    PyObject *t = PyTuple_Pack(1, x), *d = PyDict_New(); // fault
    PyObject *r = PyObject_Call((PyObject *)&PyList_Type, t, d);
    Py_DECREF(t);
    return r;
}
F(kw_honest) {
    PyObject *t = PyTuple_Pack(1, x), *d = PyDict_New();
    PyObject *r = PyObject_Call((PyObject *)&PyList_Type, t, d);
    Py_DECREF(t);
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
F(weak_fault) {
    PyObject *w = PyWeakref_NewRef(x, NULL); // fault
    return PyBool_FromLong(PyWeakref_GetObject(w) == x);
}
F(weak_honest) {
    PyObject *w = PyWeakref_NewRef(x, NULL);
    long n = PyWeakref_GetObject(w) == x;
    Py_DECREF(w);
    return PyBool_FromLong(n);
}
F(import_fault) {
    PyObject *m = PyImport_ImportModule("colorsys"), *f = PyObject_GetAttrString(m, "rgb_to_hsv"); // fault
    Py_DECREF(f);
    return PyLong_FromLong(1);
}
F(import_honest) {
    PyObject *m = PyImport_ImportModule("colorsys"), *f = PyObject_GetAttrString(m, "rgb_to_hsv");
    Py_DECREF(f);
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
