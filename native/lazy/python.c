// External recipes: elt and get_region of a Python subclass, and a C provider's (lazy/lazy.h).
//
// A Python get_region writes to an ndarray over separate storage, which is then copied. A provider that keeps
// `out` keeps only scratch memory, and can never write to a materialized vector. Every answer is checked
// (count, type, range): an error of a provider raises an exception and never gives a wrong value.
// SPDX-License-Identifier: MIT
#include "lazy/inside.h"

// A new writable ndarray of n elements over `room`.
static PyObject *array_over(LazyVector *vector, LazyStorage *storage, Py_ssize_t n) {
    _owned_ PyObject *numpy = PyImport_ImportModule("numpy");
    return numpy ? PyObject_CallMethod(numpy, "frombuffer", "Osn", (PyObject *)storage, vector->kind->code, n)
                 : NULL;
}

// Calls get_region of the subclass and checks how many elements it wrote.
static int call_region(LazyVector *vector, Py_ssize_t i, Py_ssize_t n, void *out) {
    Py_ssize_t bytes = n * vector->kind->itemsize;
    LazyStorage *storage = lazy_storage_create(Py_TYPE(vector), bytes);
    _owned_ PyObject *guard = (PyObject *)storage;
    _owned_ PyObject *array = storage ? array_over(vector, storage, n) : NULL;
    _owned_ PyObject *written =
        array ? PyObject_CallMethod((PyObject *)vector, "get_region", "nnO", i, n, array) : NULL;
    if (!written) {
        return -1;
    }
    Py_ssize_t count = PyIndex_Check(written) ? PyNumber_AsSsize_t(written, NULL) : -1;
    if (count != n) {
        PyErr_Clear();
        return lazy_refuse("short_region", Py_BuildValue("(OnnO)", (PyObject *)vector, i, n, written));
    }
    memcpy(out, storage->bytes, (size_t)bytes);
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
    for (Py_ssize_t k = 0; k < n;) { // the contract: at most one block per call
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

// A C provider failed: its exception, if set, is passed on. Takes the GIL, since the caller may not hold it.
static int foreign_failed(LazyVector *vector, Py_ssize_t i, Py_ssize_t n, int64_t written) {
    PyGILState_STATE gil = PyGILState_Ensure();
    if (!PyErr_Occurred()) {
        const char *name = vector->provider ? vector->provider->name : "gone";
        lazy_refuse("foreign_failed", Py_BuildValue("(znnL)", name, i, n, (long long)written));
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
        int64_t written = provider->get_region ? provider->get_region(provider->context, i + k, count, at)
                          : provider->elt(provider->context, i + k, at) < 0 ? -1
                                                                            : 1;
        if (written != count) {
            return foreign_failed(vector, i + k, count, written);
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
