// The object under inspection, held in a box so that its refcount can be told exactly.
//
// A function that receives an object holds it in its parameter, its callers on their stacks; how many
// references that makes depends on the version of CPython. So the api puts the object into a Subject at
// once and deletes its own name: from there on the box holds exactly ONE reference, whatever the depth
// of calls below, and the true count is ob_refcnt - 1. Probes take a Subject and borrow the object only
// for the length of one native call.
// SPDX-License-Identifier: MIT
#include "objects/objects.h"

typedef struct {
    PyObject_HEAD PyObject *object; // owned: the only reference the tool keeps
    Py_ssize_t of_the_call; // references of the call that brought the object here (objects/call_references.c)
} Subject;

static int subject_init(PyObject *self, PyObject *args, PyObject *kwargs) {
    PyObject *object; // borrowed
    if (kwargs && PyDict_GET_SIZE(kwargs)) {
        return error_set(PyExc_TypeError, "Subject() takes no keyword arguments");
    }
    if (!PyArg_ParseTuple(args, "O:Subject", &object)) {
        return -1;
    }
    Py_XSETREF(((Subject *)self)->object, Py_NewRef(object));
    return 0;
}

static int subject_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((Subject *)self)->object);
    return 0;
}

static int subject_clear(PyObject *self) {
    Py_CLEAR(((Subject *)self)->object);
    return 0;
}

static void subject_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    subject_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *empty_subject(void) {
    return PyErr_Format(PyExc_ValueError, "this Subject holds no object");
}

static PyObject *subject_get(PyObject *self, PyObject *unused) {
    PyObject *object = ((Subject *)self)->object;
    return object ? Py_NewRef(object) : empty_subject();
}

static PyObject *subject_refcount(PyObject *self, PyObject *unused) {
    PyObject *object = ((Subject *)self)->object;
    if (!object) {
        return empty_subject();
    }
    if (compat_is_immortal(object)) {
        Py_RETURN_NONE;
    }
    return PyLong_FromSsize_t(Py_REFCNT(object) - 1 - ((Subject *)self)->of_the_call);
}

static PyObject *subject_leave_out(PyObject *self, PyObject *count /* borrowed */) {
    const Py_ssize_t references = PyLong_AsSsize_t(count);
    if (references == -1 && PyErr_Occurred()) {
        return NULL;
    }
    ((Subject *)self)->of_the_call = references;
    Py_RETURN_NONE;
}

static PyObject *subject_address(PyObject *self, void *unused) {
    PyObject *object = ((Subject *)self)->object;
    return object ? PyLong_FromVoidPtr(object) : empty_subject();
}

static PyMethodDef subject_methods[] = {
    {"get", subject_get, METH_NOARGS, NULL},
    {"refcount", subject_refcount, METH_NOARGS, NULL},
    {"leave_out", subject_leave_out, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef subject_getset[] = {
    {"address", subject_address, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot subject_slots[] = {
    {Py_tp_new, PyType_GenericNew},     {Py_tp_init, subject_init},
    {Py_tp_traverse, subject_traverse}, {Py_tp_clear, subject_clear},
    {Py_tp_dealloc, subject_dealloc},   {Py_tp_methods, subject_methods},
    {Py_tp_getset, subject_getset},     {0, NULL},
};

static PyType_Spec subject_spec = {
    .name = "inspector._native.Subject",
    .basicsize = sizeof(Subject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = subject_slots,
};

PyObject *subject_object(PyObject *module, PyObject *maybe_subject) {
    native_state *state = native_get_state(module);
    if (!Py_IS_TYPE(maybe_subject, state->subject_type)) {
        return PyErr_Format(PyExc_TypeError, "expected an inspector._native.Subject");
    }
    PyObject *object = ((Subject *)maybe_subject)->object;
    return object ? object : empty_subject();
}

PyObject *subject_peek(PyObject *subject) { return ((Subject *)subject)->object; }

int subject_exec(PyObject *module) {
    native_state *state = native_get_state(module);
    state->subject_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &subject_spec, NULL);
    return state->subject_type ? PyModule_AddType(module, state->subject_type) : -1;
}
