// The object under inspection on a free-threaded CPython: its box, as in objects/subject.c, and the words of
// its header.
//
// Overview. Such a build counts an object's references in two words (PEP 703, Include/refcount.h). The thread
// that ob_tid names owns the object and counts in ob_ref_local; all others count in ob_ref_shared, above two
// bits of state. Their sum is the refcount. Once the owner has given the object up the counts are merged: all
// of it is in ob_ref_shared. Of some objects (functions, code, modules, types) references on the stacks of
// the interpreter are not counted: their counts are deferred, and no number is the number of references.
//
// Threads. A Subject never changes after it is made, so that the object in it lives. Its words are read one
// by one, atomically; another thread may count meanwhile, as with any refcount of such a build.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#define INSPECTOR_INTERNALS
#include "objects/objects.h"

typedef struct {
    PyObject_HEAD PyObject *object; // owned: the only reference the tool keeps
} Subject;

static PyObject *subject_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *object; // borrowed
    if (!PyArg_ParseTuple(args, "O:Subject", &object)) {
        return NULL;
    }
    PyObject *made = type->tp_alloc(type, 0); // new
    if (made) {
        ((Subject *)made)->object = Py_NewRef(object);
    }
    return made;
}

static int subject_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((Subject *)self)->object);
    return 0;
}

static void subject_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF(((Subject *)self)->object);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *subject_get(PyObject *self, PyObject *unused) {
    return Py_NewRef(((Subject *)self)->object);
}

// (address of ob_tid's thread or 0, is it this one, local, shared, state, deferred, immortal) without the
// Subject's reference: this thread made it, and counted it in its word.
static PyObject *subject_counts(PyObject *self, PyObject *unused) {
    PyObject *object = ((Subject *)self)->object;
    uintptr_t thread = _Py_atomic_load_uintptr_relaxed(&object->ob_tid);
    long long local = _Py_atomic_load_uint32_relaxed(&object->ob_ref_local);
    Py_ssize_t word = _Py_atomic_load_ssize_relaxed(&object->ob_ref_shared);
    int is_mine = thread == _Py_ThreadId();
    long long shared = word >> _Py_REF_SHARED_SHIFT;
    return Py_BuildValue("(KNLLiNN)", (unsigned long long)thread, PyBool_FromLong(is_mine), local - is_mine,
                         shared - !is_mine, (int)(word & _Py_REF_SHARED_FLAG_MASK),
                         PyBool_FromLong(compat_is_deferred(object)),
                         PyBool_FromLong(_Py_IsImmortal(object)));
}

static PyObject *subject_refcount(PyObject *self, PyObject *unused) {
    PyObject *object = ((Subject *)self)->object;
    if (_Py_IsImmortal(object)) {
        Py_RETURN_NONE;
    }
    if (compat_is_deferred(object)) {
        return PyErr_Format(PyExc_ValueError, "deferred"); // _native.py says it to the user
    }
    return PyLong_FromSsize_t(Py_REFCNT(object) - 1);
}

static PyObject *subject_address(PyObject *self, void *unused) {
    return PyLong_FromVoidPtr(((Subject *)self)->object);
}

static PyMethodDef subject_methods[] = {
    {"get", subject_get, METH_NOARGS, NULL},
    {"refcount", subject_refcount, METH_NOARGS, NULL},
    {"counts", subject_counts, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef subject_getset[] = {
    {"address", subject_address, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot subject_slots[] = {
    {Py_tp_new, subject_new},         {Py_tp_traverse, subject_traverse}, {Py_tp_dealloc, subject_dealloc},
    {Py_tp_methods, subject_methods}, {Py_tp_getset, subject_getset},     {0, NULL},
};

static PyType_Spec subject_spec = {
    .name = "inspector._native.Subject",
    .basicsize = sizeof(Subject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = subject_slots,
};

PyObject *subject_object(PyObject *module, PyObject *maybe_subject) {
    if (!PyObject_TypeCheck(maybe_subject, native_get_state(module)->subject_type)) {
        return PyErr_Format(PyExc_TypeError, "expected an inspector._native.Subject");
    }
    return ((Subject *)maybe_subject)->object;
}

int subject_exec(PyObject *module) {
    native_state *state = native_get_state(module);
    state->subject_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &subject_spec, NULL);
    PyObject *offsets = Py_BuildValue("(nnnn)", offsetof(PyObject, ob_tid), offsetof(PyObject, ob_ref_local),
                                      offsetof(PyObject, ob_ref_shared), offsetof(PyObject, ob_type)); // new
    int failed = !state->subject_type || PyModule_AddType(module, state->subject_type) < 0 ||
                 PyModule_AddObjectRef(module, "OFFSETS", offsets) < 0;
    Py_XDECREF(offsets);
    return failed ? -1 : 0;
}
