// The lazy vector, after R's ALTREP: a recipe and its input (data1), and its result (data2).
//
// Overview. A vector has a length, an element type, and one of six recipes: the elements of a buffer, their
// absolute values, a range, a slice of another vector, a Python subclass, a C provider (lazy/lazy.h).
// Elements, regions, slices and summaries are computed from data1 on request. Only a caller that needs an
// address (a buffer, DLPack, Arrow, dataptr) makes it materialize data2, once. Files: lazy/region.c elements,
// lazy/summary.c summaries without data2, lazy/fill.c materialization and its threads, lazy/stamp.c detection
// of changed input, lazy/event.c causes, lazy/export.c and lazy/arrow.c exports, lazy/recipes.c new vectors,
// lazy/python.c external recipes, lazy/kernels.c arithmetic, lazy/numbers.c and lazy/storage.c the base.
//
// Life cycle and who frees. A vector owns a reference to its input, holds the input's buffer, and owns its
// storage. The storage is a separate object, since a duplicate shares it until one of them is written.
// Consumers hold the vector (`exports` counts them), so the bytes live as long as their address is in use.
// tp_clear drops the input and sets the length to 0: the vector is then empty but valid.
//
// Limits. One dimension; the eleven kinds of lazy/kernels.c; 256 nested vectors; 16 events.
// SPDX-License-Identifier: MIT
#include "lazy/inside.h"

#include <structmember.h>

static PyObject *vector_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    LazyVector *vector = (LazyVector *)type->tp_alloc(type, 0);
    if (vector) {
        vector->kind = lazy_kind_of("d", sizeof(double)); // until __init__: empty, usable
        vector->recipe = LAZY_PYTHON;
    }
    return (PyObject *)vector;
}

// Whether the type of `self` overrides `name`.
static int overrides(PyObject *self, const char *name) {
    native_state *state = native_type_state(Py_TYPE(self));
    if (!state) {
        return -1;
    }
    _owned_ PyObject *own = PyObject_GetAttrString((PyObject *)Py_TYPE(self), name);
    _owned_ PyObject *ours = PyObject_GetAttrString((PyObject *)state->lazy_vector_type, name);
    return own && ours ? own != ours : -1;
}

static int depth_over(PyObject *self, PyObject *input) {
    PyTypeObject *type = native_type_state(Py_TYPE(self))->lazy_vector_type; // borrowed
    int depth = 0;
    if (PyTuple_Check(input)) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(input); i++) {
            int below = depth_over(self, PyTuple_GET_ITEM(input, i));
            depth = below > depth ? below : depth;
        }
    } else if (PyObject_TypeCheck(input, type)) {
        LazyVector *below = (LazyVector *)input;
        depth = lazy_state_of(below) == LAZY_DONE ? 1 : below->depth + 1;
    }
    return depth;
}

// LazyVector(length, format, itemsize, input, name): called by subclasses in Python.
static int vector_init(PyObject *self, PyObject *args, PyObject *kwargs) {
    LazyVector *vector = (LazyVector *)self;
    const char *format;
    Py_ssize_t length, itemsize;
    PyObject *input, *name; // borrowed
    if (!PyArg_ParseTuple(args, "nsnOU:LazyVector", &length, &format, &itemsize, &input, &name)) {
        return -1;
    }
    if (vector->ready) {
        return error_set(PyExc_RuntimeError,
                         "a lazy vector is initialised once: consumers rely on its length");
    }
    const lazy_kind *kind = lazy_kind_of(format, itemsize);
    int elt = overrides(self, "elt"), region = overrides(self, "get_region");
    if (elt < 0 || region < 0) {
        return -1;
    }
    int depth = depth_over(self, input);
    if (!kind) {
        return lazy_refuse("kind", Py_BuildValue("(s)", format));
    }
    if (length < 0 || !(elt || region)) {
        return lazy_refuse("nothing_to_compute", Py_BuildValue("(O)", (PyObject *)Py_TYPE(self)));
    }
    if (depth > LAZY_DEPTH_MAX) {
        return lazy_refuse("too_deep", Py_BuildValue("(i)", LAZY_DEPTH_MAX));
    }
    if (lazy_check_length(length, kind) < 0) {
        return -1;
    }
    vector->kind = kind;
    vector->length = length;
    vector->input = Py_NewRef(input);
    vector->name = Py_NewRef(name);
    vector->has_elt = (uint8_t)elt;
    vector->has_region = (uint8_t)region;
    vector->depth = (uint16_t)depth;
    vector->ready = 1;
    return 0;
}

static int vector_traverse(PyObject *self, visitproc visit, void *arg) {
    LazyVector *vector = (LazyVector *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(vector->input);
    Py_VISIT(vector->source.obj);
    Py_VISIT(vector->events);
    return 0;
}

// Runs before tp_clear: in a collected cycle the memory of the provider may be freed before the vector.
static void vector_finalize(PyObject *self) {
    LazyVector *vector = (LazyVector *)self;
    inspector_lazy_provider *provider = vector->provider;
    if (!provider) {
        return;
    }
    PyObject *type, *value, *traceback; // owned: a pending exception is not the provider's
    PyErr_Fetch(&type, &value, &traceback);
    vector->provider = NULL;
    vector->length = 0;
    if (provider->release) {
        provider->release(provider);
    }
    PyErr_Restore(type, value, traceback);
}

static int vector_clear(PyObject *self) {
    LazyVector *vector = (LazyVector *)self;
    vector->length = 0;
    PyBuffer_Release(&vector->source);
    Py_CLEAR(vector->input);
    Py_CLEAR(vector->events);
    return 0;
}

static void vector_dealloc(PyObject *self) {
    LazyVector *vector = (LazyVector *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (PyObject_CallFinalizerFromDealloc(self) < 0) {
        return; // resurrected
    }
    PyObject_GC_UnTrack(self);
    if (vector->weak) {
        PyObject_ClearWeakRefs(self);
    }
    vector_clear(self);
    Py_CLEAR(vector->result);
    Py_CLEAR(vector->retired);
    Py_CLEAR(vector->name);
    lazy_stamps_free(vector->stamps);
    free(vector->done);
    if (vector->filled) {
        PyThread_free_lock(vector->filled);
    }
    type->tp_free(self);
    Py_DECREF(type);
}

// sys.getsizeof(): the vector, its bookkeeping, and data2 if no other vector shares it.
static PyObject *vector_sizeof(PyObject *self, PyObject *unused) {
    LazyVector *vector = (LazyVector *)self;
    Py_ssize_t blocks = lazy_blocks(vector), bytes = Py_TYPE(self)->tp_basicsize;
    bytes += vector->done ? (blocks / 64 + 1) * 8 : 0;
    if (vector->stamps) {
        bytes += (Py_ssize_t)sizeof *vector->stamps + (blocks / 64 + 1) * 8;
        bytes += (blocks + 1) * (Py_ssize_t)sizeof(lazy_stamp);
    }
    if (vector->result && Py_REFCNT(vector->result) == 1) {
        bytes += (Py_ssize_t)sizeof(LazyStorage) + vector->result->size;
    }
    return PyLong_FromSsize_t(bytes);
}

static PyMethodDef vector_own_methods[] = {
    {"__arrow_c_array__", (PyCFunction)(void (*)(void))lazy_arrow_array, METH_VARARGS | METH_KEYWORDS, NULL},
    {"__sizeof__", vector_sizeof, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef vector_methods[32]; // methods of all files in native/lazy/, gathered at import

static void gather_methods(void) {
    PyMethodDef *tables[] = {lazy_access_methods, lazy_summary_methods, lazy_export_methods,
                             vector_own_methods};
    PyMethodDef *to = vector_methods;
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
        for (PyMethodDef *from = tables[k]; from->ml_name; from++) {
            *to++ = *from;
        }
    }
}

static PyMemberDef vector_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(LazyVector, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot vector_slots[] = {
    {Py_tp_new, vector_new},
    {Py_tp_init, vector_init},
    {Py_tp_traverse, vector_traverse},
    {Py_tp_clear, vector_clear},
    {Py_tp_finalize, vector_finalize},
    {Py_tp_dealloc, vector_dealloc},
    {Py_tp_methods, vector_methods},
    {Py_tp_getset, lazy_access_getset},
    {Py_tp_members, vector_members},
    {Py_sq_length, lazy_length},
    {Py_sq_item, lazy_item},
    {Py_mp_length, lazy_length},
    {Py_mp_subscript, lazy_subscript},
    {Py_bf_getbuffer, lazy_getbuffer},
    {Py_bf_releasebuffer, lazy_releasebuffer},
    {0, NULL},
};

static PyType_Spec vector_spec = {
    .name = "inspector._native.LazyVector",
    .basicsize = sizeof(LazyVector),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = vector_slots,
};

// lazy_class(type): the class of new vectors; inspector.lazy sets it at import.
static PyObject *lazy_class(PyObject *module, PyObject *type) {
    native_state *state = native_get_state(module);
    if (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject *)type, state->lazy_vector_type)) {
        return PyErr_Format(PyExc_TypeError, "lazy_class() requires a subclass of LazyVector");
    }
    Py_XSETREF(state->lazy_class, (PyTypeObject *)Py_NewRef(type));
    Py_RETURN_NONE;
}

// lazy_capsule(capsule): the address of its provider.
static PyObject *lazy_capsule(PyObject *module, PyObject *capsule) {
    void *provider = PyCapsule_GetPointer(capsule, INSPECTOR_LAZY_CAPSULE);
    return provider ? PyLong_FromVoidPtr(provider) : NULL;
}

static PyObject *lazy_portable(PyObject *module, PyObject *yes) {
    lazy_kernels_choose(yes == Py_True);
    Py_RETURN_NONE;
}

int lazy_vector_exec(PyObject *module) {
    native_state *state = native_get_state(module);
    gather_methods();
    state->lazy_vector_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &vector_spec, NULL);
    state->lazy_storage_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &lazy_storage_spec, NULL);
    if (!state->lazy_vector_type || !state->lazy_storage_type) {
        return -1;
    }
    if (PyModule_AddIntConstant(module, "LAZY_BLOCK_BYTES", LAZY_BLOCK_BYTES) < 0 ||
        PyModule_AddIntConstant(module, "LAZY_DEPTH_MAX", LAZY_DEPTH_MAX) < 0 ||
        PyModule_AddType(module, state->lazy_vector_type) < 0) {
        return -1;
    }
    return ADD_FUNCTIONS(
        module, {"lazy_capsule", lazy_capsule, METH_O, NULL}, {"lazy_class", lazy_class, METH_O, NULL},
        {"lazy_portable", lazy_portable, METH_O, NULL}, {"lazy_tell", lazy_tell, METH_O, NULL},
        {"lazy_over", (PyCFunction)(void (*)(void))lazy_make, METH_FASTCALL, NULL},
        {"lazy_arange", lazy_arange_new, METH_VARARGS, NULL},
        {"lazy_foreign", lazy_foreign_new, METH_VARARGS, NULL});
}
