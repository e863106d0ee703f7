// Export of lazy vectors to Arrow: the C data interface in PyCapsules. No copy, except for bool (bits).
//
// Both structs are defined by the interface. A consumer moves the struct out and sets its `release` to NULL;
// a capsule whose struct still has a `release` calls it. An array without nulls has no validity bitmap.
// SPDX-License-Identifier: MIT
#include "lazy/inside.h"

typedef struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, children_count;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *self);
    void *context;
} ArrowSchema;

typedef struct ArrowArray {
    int64_t length, null_count, offset, buffer_count, children_count;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *self);
    void *context;
} ArrowArray;

typedef struct {
    const void *buffers[2];
    LazyVector *vector; // owned; NULL if `bits` holds the elements
    void *bits;         // owned, malloc
} arrow_loan;

static void schema_release(ArrowSchema *self) { self->release = NULL; } // all of it is constant

// Consumers may call this from any thread, with or without the GIL.
static void array_release(ArrowArray *self) {
    arrow_loan *loan = self->context;
    lazy_lent_back(loan->vector);
    free(loan->bits);
    free(loan);
    self->release = NULL;
}

static void schema_destroy(PyObject *capsule) {
    ArrowSchema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");
    if (schema->release) {
        schema->release(schema);
    }
    free(schema);
}

static void array_destroy(PyObject *capsule) {
    ArrowArray *array = PyCapsule_GetPointer(capsule, "arrow_array");
    if (array->release) {
        array->release(array);
    }
    free(array);
}

static const char *arrow_format(const lazy_kind *kind) {
    static const char *signed_[] = {"c", "s", "i", "l"}, *unsigned_[] = {"C", "S", "I", "L"};
    int size = kind->itemsize == 1 ? 0 : kind->itemsize == 2 ? 1 : kind->itemsize == 4 ? 2 : 3;
    return kind->family == 'b'   ? "b"
           : kind->family == 'f' ? (size == 3 ? "g" : "f")
           : kind->family == 'i' ? signed_[size]
                                 : unsigned_[size];
}

static PyObject *schema_capsule(LazyVector *vector) {
    ArrowSchema *schema = calloc(1, sizeof *schema);
    if (!schema) {
        return PyErr_NoMemory();
    }
    schema->format = arrow_format(vector->kind);
    schema->name = "";
    schema->release = schema_release;
    PyObject *capsule = PyCapsule_New(schema, "arrow_schema", schema_destroy);
    if (!capsule) {
        free(schema);
    }
    return capsule;
}

static void *packed(const char *bytes, Py_ssize_t length) {
    unsigned char *bits = calloc((size_t)(length / 8 + 1), 1);
    for (Py_ssize_t i = 0; bits && i < length; i++) {
        bits[i / 8] |= (unsigned char)((bytes[i] != 0) << (i % 8));
    }
    return bits;
}

static arrow_loan *loan_create(LazyVector *vector) {
    arrow_loan *loan = calloc(1, sizeof *loan);
    if (loan && vector->kind->family == 'b') {
        loan->bits = packed(vector->result->bytes, vector->length);
    }
    if (!loan || (vector->kind->family == 'b' && !loan->bits)) {
        free(loan);
        PyErr_NoMemory();
        return NULL;
    }
    loan->buffers[1] = loan->bits ? loan->bits : vector->result->bytes;
    if (!loan->bits) {
        loan->vector = lazy_lend(vector);
    }
    return loan;
}

static PyObject *array_capsule(LazyVector *vector) {
    _free_ ArrowArray *array = calloc(1, sizeof *array);
    arrow_loan *loan = array ? loan_create(vector) : NULL;
    if (!loan) {
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    array->length = vector->length;
    array->buffer_count = 2;
    array->buffers = loan->buffers;
    array->release = array_release;
    array->context = loan;
    PyObject *capsule = PyCapsule_New(array, "arrow_array", array_destroy);
    if (!capsule) {
        array_release(array);
        return NULL;
    }
    (void)take(array); // owned by the capsule now
    return capsule;
}

// __arrow_c_array__(requested_schema=None): the request is ignored; elements keep their type.
PyObject *lazy_arrow_array(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"requested_schema", NULL};
    PyObject *requested = NULL; // borrowed
    LazyVector *vector = (LazyVector *)self;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:__arrow_c_array__", names, &requested) ||
        lazy_materialize(vector, NULL) < 0) {
        return NULL;
    }
    _owned_ PyObject *schema = schema_capsule(vector);
    _owned_ PyObject *array = schema ? array_capsule(vector) : NULL;
    return array ? PyTuple_Pack(2, schema, array) : NULL;
}
