// The storage of a materialized vector, and the count of threads that may read it without the GIL.
// SPDX-License-Identifier: MIT
#include "lazy/inside.h"

#include <sys/mman.h>

static atomic_int gil_free_readers; // threads that read vectors without the GIL

PyThreadState *lazy_release_gil(const LazyVector *vector) {
    if (!vector->native || vector->length <= LAZY_HOLD_GIL_MAX) {
        return NULL;
    }
    atomic_fetch_add(&gil_free_readers, 1);
    return PyEval_SaveThread();
}

void lazy_take_gil(PyThreadState *released) {
    if (released) {
        PyEval_RestoreThread(released);
        atomic_fetch_sub(&gil_free_readers, 1);
    }
}

LazyVector *lazy_lend(LazyVector *vector) {
    vector->exports++;
    return (LazyVector *)Py_NewRef((PyObject *)vector);
}

void lazy_lent_back(LazyVector *vector) {
    if (vector) {
        PyGILState_STATE gil = PyGILState_Ensure();
        vector->exports--;
        Py_DECREF(vector);
        PyGILState_Release(gil);
    }
}

int lazy_has_gil_free_readers(void) { return atomic_load(&gil_free_readers) != 0; }

enum { HUGE_PAGES_FROM = 4 << 20, PAGE = 4096 };

// As NumPy does for its arrays: page faults dominate the filling, and huge pages need 512 times fewer.
static void ask_for_huge_pages(LazyStorage *storage) {
    uintptr_t start = ((uintptr_t)storage->bytes + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    madvise((void *)start, (size_t)storage->size - PAGE, MADV_HUGEPAGE); // a hint: failure changes nothing
}

LazyStorage *lazy_storage_create(PyTypeObject *vector_type, Py_ssize_t size) {
    native_state *state = native_type_state(vector_type);
    PyTypeObject *type = state ? state->lazy_storage_type : NULL; // borrowed
    LazyStorage *storage = type ? (LazyStorage *)type->tp_alloc(type, 0) : NULL;
    if (storage) {
        storage->size = size;
        storage->bytes = PyMem_RawMalloc((size_t)size + 1); // traced by tracemalloc
        if (!storage->bytes) {
            Py_CLEAR(storage);
            PyErr_NoMemory();
        } else if (size >= HUGE_PAGES_FROM) {
            ask_for_huge_pages(storage);
        }
    }
    return storage;
}

static void storage_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyMem_RawFree(((LazyStorage *)self)->bytes);
    type->tp_free(self);
    Py_DECREF(type);
}

static int storage_getbuffer(PyObject *self, Py_buffer *view, int flags) {
    LazyStorage *storage = (LazyStorage *)self;
    int failed = PyBuffer_FillInfo(view, self, storage->bytes, storage->size, 0, flags);
    storage->exports += !failed;
    return failed;
}

static void storage_releasebuffer(PyObject *self, Py_buffer *view) { ((LazyStorage *)self)->exports--; }

static PyType_Slot storage_slots[] = {
    {Py_tp_dealloc, storage_dealloc},
    {Py_bf_getbuffer, storage_getbuffer},
    {Py_bf_releasebuffer, storage_releasebuffer},
    {0, NULL},
};

PyType_Spec lazy_storage_spec = {
    .name = "inspector._native.LazyStorage",
    .basicsize = sizeof(LazyStorage),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = storage_slots,
};
