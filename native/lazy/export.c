// Exports of lazy vectors: the buffer protocol (PEP 3118) and DLPack. Both materialize, and are counted.
//
// Consumers get read-only memory. A writable buffer is granted while no other consumer has the memory. From
// then on the recipe may no longer describe the elements (`written`), so pickle writes the elements. A DLPack
// capsule before version 1 has no read-only flag: it gets a copy of its own.
// SPDX-License-Identifier: MIT
#include "lazy/inside.h"

int lazy_getbuffer(PyObject *self, Py_buffer *view, int flags) {
    LazyVector *vector = (LazyVector *)self;
    view->obj = NULL;
    if (lazy_materialize(vector, NULL) < 0) {
        return -1;
    }
    if ((flags & PyBUF_WRITABLE) && lazy_unshare(vector) < 0) {
        return -1;
    }
    *view = (Py_buffer){
        .buf = vector->result->bytes,
        .obj = Py_NewRef(self),
        .len = vector->result->size,
        .itemsize = vector->kind->itemsize,
        .readonly = !(flags & PyBUF_WRITABLE),
        .ndim = 1,
        .format = flags & PyBUF_FORMAT ? (char *)vector->kind->code : NULL,
        .shape = flags & PyBUF_ND ? &vector->length : NULL,
    };
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? &view->itemsize : NULL;
    vector->exports++;
    return 0;
}

void lazy_releasebuffer(PyObject *self, Py_buffer *view) { ((LazyVector *)self)->exports--; }

typedef struct {
    void *bytes;
    int32_t device_type, device_id;
    int32_t ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} dl_tensor;

typedef struct dl_managed {
    dl_tensor tensor;
    void *context;
    void (*deleter)(struct dl_managed *self);
} dl_managed;

typedef struct dl_versioned {
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct dl_versioned *self);
    uint64_t flags; // 1 read-only, 2 copied
    dl_tensor tensor;
} dl_versioned;

enum { DL_CPU = 1, DL_READ_ONLY = 1, DL_COPIED = 2 };

typedef struct {
    dl_managed plain;
    dl_versioned versioned;
    int64_t shape, stride;
    LazyVector *vector; // owned; NULL if `copy` holds the elements
    void *copy;         // owned, malloc
} dl_loan;

// Consumers may call this from any thread, with or without the GIL.
static void loan_return(dl_loan *loan) {
    lazy_lent_back(loan->vector);
    free(loan->copy);
    free(loan);
}
static void plain_delete(dl_managed *self) { loan_return(self->context); }
static void versioned_delete(dl_versioned *self) { loan_return(self->context); }

// A capsule that was never consumed still has its first name, and frees the loan.
static void capsule_destroy(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, "dltensor")) {
        plain_delete(PyCapsule_GetPointer(capsule, "dltensor"));
    } else if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        versioned_delete(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
    }
}

static dl_loan *loan_create(LazyVector *vector, int copied) {
    dl_loan *loan = calloc(1, sizeof *loan);
    if (!loan || (copied && !(loan->copy = malloc((size_t)vector->result->size + 1)))) {
        free(loan);
        PyErr_NoMemory();
        return NULL;
    }
    if (copied) {
        memcpy(loan->copy, vector->result->bytes, (size_t)vector->result->size);
    } else {
        loan->vector = lazy_lend(vector);
    }
    const lazy_kind *kind = vector->kind;
    loan->shape = vector->length;
    loan->stride = 1; // in elements
    loan->plain.tensor = (dl_tensor){
        .bytes = copied ? loan->copy : vector->result->bytes,
        .device_type = DL_CPU,
        .ndim = 1,
        .code = kind->family == 'b'   ? 6
                : kind->family == 'f' ? 2
                : kind->family == 'u' ? 1
                                      : 0,
        .bits = (uint8_t)(8 * kind->itemsize),
        .lanes = 1,
        .shape = &loan->shape,
        .strides = &loan->stride,
    };
    loan->plain.context = loan->versioned.context = loan;
    loan->plain.deleter = plain_delete;
    loan->versioned.deleter = versioned_delete;
    loan->versioned.tensor = loan->plain.tensor;
    loan->versioned.major = 1;
    loan->versioned.flags = copied ? DL_COPIED : vector->written ? 0 : DL_READ_ONLY;
    return loan;
}

// 1: the consumer reads versioned capsules; 0: it does not; -1 with an exception set.
static int reads_versioned(PyObject *max_version) {
    if (!max_version || max_version == Py_None) {
        return 0;
    }
    int major, minor;
    if (!PyTuple_Check(max_version)) {
        return error_set(PyExc_TypeError, "max_version is a tuple (major, minor)");
    }
    return PyArg_ParseTuple(max_version, "ii", &major, &minor) ? major >= 1 : -1;
}

static int is_this_device(PyObject *device) {
    int type, number;
    if (!device || device == Py_None) {
        return 1;
    }
    if (PyTuple_Check(device) && PyArg_ParseTuple(device, "ii", &type, &number) && type == DL_CPU) {
        return 1;
    }
    if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_BufferError, "a lazy vector lies in host memory: device (1, 0)");
    }
    return 0;
}

static PyObject *vector_dlpack(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject *stream = NULL, *max_version = NULL, *device = NULL, *copy = NULL; // borrowed
    LazyVector *vector = (LazyVector *)self;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO:__dlpack__", names, &stream, &max_version, &device,
                                     &copy)) {
        return NULL;
    }
    int versioned = reads_versioned(max_version);
    if (versioned < 0 || !is_this_device(device)) {
        return NULL;
    }
    int copied = copy == Py_True || (!versioned && !vector->written);
    if (copy == Py_False && (copied || lazy_state_of(vector) != LAZY_DONE)) {
        return PyErr_Format(
            PyExc_BufferError,
            "copy=False: the lazy vector cannot export its elements without a copy or computing them");
    }
    if (lazy_materialize(vector, NULL) < 0) {
        return NULL;
    }
    dl_loan *loan = loan_create(vector, copied);
    if (!loan) {
        return NULL;
    }
    PyObject *capsule = versioned ? PyCapsule_New(&loan->versioned, "dltensor_versioned", capsule_destroy)
                                  : PyCapsule_New(&loan->plain, "dltensor", capsule_destroy);
    if (!capsule) {
        loan_return(loan);
    }
    return capsule;
}

static PyObject *vector_dlpack_device(PyObject *self, PyObject *unused) {
    return Py_BuildValue("(ii)", DL_CPU, 0);
}

PyMethodDef lazy_export_methods[] = {
    {"__dlpack__", (PyCFunction)(void (*)(void))vector_dlpack, METH_VARARGS | METH_KEYWORDS, NULL},
    {"__dlpack_device__", vector_dlpack_device, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
