// Creates lazy vectors: over a buffer, over another vector, of three numbers, over a C provider. Each O(1).
//
// A vector over a buffer holds it (Py_buffer) for its whole life, so the exporter can neither move nor free
// the memory. If the exporter is the input itself, `source.obj` is the only reference to it.
// SPDX-License-Identifier: MIT
#include "lazy/inside.h"

static LazyVector *vector_create(native_state *state, lazy_recipe recipe) {
    PyTypeObject *type = state->lazy_class; // borrowed
    if (!type) {
        PyErr_SetString(PyExc_RuntimeError, "inspector.lazy is not imported");
        return NULL;
    }
    LazyVector *vector = (LazyVector *)type->tp_alloc(type, 0);
    if (vector) {
        vector->recipe = (uint8_t)recipe;
        vector->native = vector->ready = 1;
    }
    return vector;
}

static int over_vector(LazyVector *vector, LazyVector *input) {
    if (input->depth >= LAZY_DEPTH_MAX && lazy_state_of(input) != LAZY_DONE) {
        return lazy_refuse("too_deep", Py_BuildValue("(i)", LAZY_DEPTH_MAX));
    }
    vector->input = Py_NewRef((PyObject *)input);
    vector->over_input = 1;
    vector->native = input->native;
    vector->depth = lazy_state_of(input) == LAZY_DONE ? 1 : (uint16_t)(input->depth + 1);
    vector->kind = input->kind;
    vector->length = input->length;
    return 0;
}

static int over_buffer(LazyVector *vector, PyObject *input) {
    Py_buffer *source = &vector->source;
    if (PyObject_GetBuffer(input, source, PyBUF_FORMAT | PyBUF_STRIDES) < 0) {
        return -1;
    }
    if (source->obj != input) {
        vector->input = Py_NewRef(input);
    }
    if (source->ndim != 1) {
        return lazy_refuse("dimensions", Py_BuildValue("(i)", source->ndim));
    }
    vector->kind = lazy_kind_of(source->format, source->itemsize);
    if (!vector->kind) {
        return lazy_refuse("kind", Py_BuildValue("(z)", source->format));
    }
    vector->length = source->shape[0];
    vector->start = source->strides[0];
    return 0;
}

// lazy_over(x, absolute): NotImplemented if x exports no buffer.
PyObject *lazy_make(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    native_state *state = native_get_state(module);
    if (count != 2) {
        return PyErr_Format(PyExc_TypeError, "lazy_over(x, absolute)");
    }
    int over = PyObject_TypeCheck(args[0], state->lazy_vector_type);
    if (!over && !PyObject_CheckBuffer(args[0])) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    LazyVector *vector = vector_create(state, args[1] == Py_True ? LAZY_ABS : LAZY_SOURCE);
    if (vector && (over ? over_vector(vector, (LazyVector *)args[0]) : over_buffer(vector, args[0])) < 0) {
        Py_CLEAR(vector);
    }
    return (PyObject *)vector;
}

PyObject *lazy_slice_new(LazyVector *vector, Py_ssize_t start, Py_ssize_t step, Py_ssize_t length) {
    native_state *state = native_type_state(Py_TYPE(vector));
    LazyVector *part = state ? vector_create(state, LAZY_SLICE) : NULL;
    if (part && vector->recipe == LAZY_SLICE && lazy_state_of(vector) == LAZY_NOT) { // of the same data1
        start = vector->start + start * vector->step;
        step *= vector->step;
        vector = lazy_input(vector);
    }
    if (part && over_vector(part, vector) < 0) {
        Py_CLEAR(part);
    }
    if (part) {
        part->start = start;
        part->step = step;
        part->length = length;
    }
    return (PyObject *)part;
}

// lazy_arange(format, itemsize, first, second, step, length): Python checks the numbers.
PyObject *lazy_arange_new(PyObject *module, PyObject *args) {
    const char *format;
    PyObject *first, *second, *step; // borrowed
    Py_ssize_t itemsize, length;
    if (!PyArg_ParseTuple(args, "snOOOn", &format, &itemsize, &first, &second, &step, &length)) {
        return NULL;
    }
    _owned_ PyObject *made = (PyObject *)vector_create(native_get_state(module), LAZY_ARANGE);
    LazyVector *vector = (LazyVector *)made;
    if (!vector) {
        return NULL;
    }
    vector->kind = lazy_kind_of(format, itemsize);
    if (!vector->kind) {
        lazy_refuse("kind", Py_BuildValue("(s)", format));
        return NULL;
    }
    if (lazy_check_length(length, vector->kind) < 0) {
        return NULL;
    }
    vector->length = length;
    if (vector->kind->family == 'f') {
        vector->first.real = PyFloat_AsDouble(first);
        vector->second.real = PyFloat_AsDouble(second);
        vector->by.real = PyFloat_AsDouble(step);
    } else {
        vector->first.natural = PyLong_AsUnsignedLongLongMask(first);
        vector->by.natural = PyLong_AsUnsignedLongLongMask(step);
    }
    return PyErr_Occurred() ? NULL : take(made);
}

// lazy_foreign(address, keeper): a provider of lazy/lazy.h; `keeper` keeps its memory alive.
PyObject *lazy_foreign_new(PyObject *module, PyObject *args) {
    unsigned long long address;
    PyObject *keeper; // borrowed
    if (!PyArg_ParseTuple(args, "KO", &address, &keeper)) {
        return NULL;
    }
    inspector_lazy_provider *provider = (inspector_lazy_provider *)(uintptr_t)address;
    if (!provider || provider->abi != INSPECTOR_LAZY_ABI) {
        lazy_refuse("abi", Py_BuildValue("(k)", (unsigned long)(provider ? provider->abi : 0)));
        return NULL;
    }
    const char *format = provider->format;
    const lazy_kind *kind = NULL;
    for (int size = 1; format && format[0] && size <= 8 && !kind; size *= 2) {
        int wanted = strchr("?bB", *format) ? 1 : strchr("hH", *format) ? 2 : strchr("iIf", *format) ? 4 : 8;
        kind = size == wanted ? lazy_kind_of(format, size) : NULL;
    }
    if (!kind) {
        lazy_refuse("kind", Py_BuildValue("(z)", format));
        return NULL;
    }
    if (provider->length < 0 || (!provider->elt && !provider->get_region)) {
        lazy_refuse("nothing_to_compute", Py_BuildValue("(s)", provider->name ? provider->name : "provider"));
        return NULL;
    }
    if (lazy_check_length(provider->length, kind) < 0) {
        return NULL;
    }
    LazyVector *vector = vector_create(native_get_state(module), LAZY_FOREIGN);
    if (vector) {
        vector->kind = kind;
        vector->length = provider->length;
        vector->provider = provider;
        vector->input = Py_NewRef(keeper);
        vector->native = (provider->flags & INSPECTOR_LAZY_NOGIL) != 0;
    }
    return (PyObject *)vector;
}
