// Recipes that are not ours: a Python subclass's elt and get_region, and a C provider's (lazy/lazy.h).
//
// A Python get_region writes into an ndarray over a storage of its own, which is copied from there: a
// provider that keeps `out` keeps scratch memory alive, and can never write into a materialized vector.
// Every answer is checked (count, type, range): a provider's mistake is an exception here, not a wrong value.
#include "lazy/inside.h"

// A new writable ndarray of n elements over `room`.
static PyObject *window(LazyVector *vector, LazyStorage *room, Py_ssize_t n) {
    _owned_ PyObject *numpy = PyImport_ImportModule("numpy");
    return numpy ? PyObject_CallMethod(numpy, "frombuffer", "Osn", (PyObject *)room, vector->kind->code, n)
                 : NULL;
}

// The subclass's own answer: how many it wrote, and into what.
static int call_region(LazyVector *vector, Py_ssize_t i, Py_ssize_t n, void *out) {
    Py_ssize_t bytes = n * vector->kind->itemsize;
    LazyStorage *room = lazy_storage_create(Py_TYPE(vector), bytes);
    _owned_ PyObject *guard = (PyObject *)room;
    _owned_ PyObject *array = room ? window(vector, room, n) : NULL;
    _owned_ PyObject *told =
        array ? PyObject_CallMethod((PyObject *)vector, "get_region", "nnO", i, n, array) : NULL;
    if (!told) {
        return -1;
    }
    Py_ssize_t count = PyIndex_Check(told) ? PyNumber_AsSsize_t(told, NULL) : -1;
    if (count != n) {
        PyErr_Clear();
        return lazy_refuse("short_region", Py_BuildValue("(OnnO)", (PyObject *)vector, i, n, told));
    }
    memcpy(out, room->bytes, (size_t)bytes);
    return 0;
}

static int call_elt(LazyVector *vector, Py_ssize_t i, void *out) {
    _owned_ PyObject *number = PyObject_CallMethod((PyObject *)vector, "elt", "n", i);
    return number ? lazy_unbox(vector->kind, number, out) : -1;
}

int lazy_python_elt(LazyVector *vector, Py_ssize_t i, void *out) {
    if (!vector->has_elt && !vector->has_region) {
        return lazy_refuse("nothing_to_compute", Py_BuildValue("(O)", (PyObject *)Py_TYPE(vector)));
    }
    return vector->has_elt ? call_elt(vector, i, out) : call_region(vector, i, 1, out);
}

int lazy_python_region(LazyVector *vector, Py_ssize_t i, Py_ssize_t n, void *out) {
    Py_ssize_t most = lazy_block_length(vector);
    for (Py_ssize_t k = 0; k < n;) { // a provider is asked for a block at most, as the contract says
        Py_ssize_t count = !vector->has_region ? 1 : n - k < most ? n - k : most;
        char *at = (char *)out + k * vector->kind->itemsize;
        int failed =
            vector->has_region ? call_region(vector, i + k, count, at) : lazy_python_elt(vector, i + k, at);
        if (failed) {
            return -1;
        }
        k += count;
    }
    return 0;
}

// A C provider failed: its own exception travels on. Without the GIL it only says so; the caller raises.
static int foreign_failed(LazyVector *vector, Py_ssize_t i, Py_ssize_t n, int64_t told) {
    PyGILState_STATE gil = PyGILState_Ensure();
    if (!PyErr_Occurred()) {
        const char *name = vector->provider ? vector->provider->name : "gone";
        lazy_refuse("foreign_failed", Py_BuildValue("(znnL)", name, i, n, (long long)told));
    }
    PyGILState_Release(gil);
    return -1;
}

int lazy_foreign_region(LazyVector *vector, Py_ssize_t i, Py_ssize_t n, void *out) {
    const inspector_lazy_provider *provider = vector->provider;
    Py_ssize_t most = lazy_block_length(vector), size = vector->kind->itemsize;
    if (!provider) { // finalized with the cycle it was in
        return foreign_failed(vector, i, n, -1);
    }
    for (Py_ssize_t k = 0; k < n;) {
        char *at = (char *)out + k * size;
        Py_ssize_t count = !provider->get_region ? 1 : n - k < most ? n - k : most;
        int64_t told = provider->get_region ? provider->get_region(provider->context, i + k, count, at)
                       : provider->elt(provider->context, i + k, at) < 0 ? -1
                                                                         : 1;
        if (told != count) {
            return foreign_failed(vector, i + k, count, told);
        }
        k += count;
    }
    return 0;
}

int lazy_foreign_elt(LazyVector *vector, Py_ssize_t i, void *out) {
    const inspector_lazy_provider *provider = vector->provider;
    if (!provider || !provider->elt) {
        return lazy_foreign_region(vector, i, 1, out);
    }
    return provider->elt(provider->context, i, out) < 0 ? foreign_failed(vector, i, 1, -1) : 0;
}
