// What other protocols answer: PyCapsules with C structs inside, read and never consumed.
//
// __array_struct__ (NumPy's array interface, side C), __dlpack__ (DLPack 1.0, dlpack.h) and __arrow_c_array__
// (the Arrow C data interface) each hand out a capsule. A consumer would rename the capsule and take over the
// memory it stands for. This part only looks: the capsule keeps its name, so its own destructor gives the
// memory back when Python drops it. Who frees: always the capsule.
//
// The structs were made by somebody else and may be wrong; every pointer in them is followed through
// memory_read, and dimensions are bounded. What does not make sense is a ValueError.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#include "memory/memory.h"

enum {
    MOST_DIMENSIONS = 64, // PyBUF_MAX_NDIM, and NPY_MAXDIMS of NumPy 2
    MOST_BUFFERS = 64,    // an Arrow array has at most three, and one a variadic buffer
    FORMAT_BYTES = 64,
};

typedef struct { // numpy/ndarraytypes.h: PyArrayInterface
    int two;
    int nd;
    char kind;
    int itemsize;
    int flags;
    Py_ssize_t *shape;
    Py_ssize_t *strides;
    void *memory;
    PyObject *descr; // borrowed: the capsule owns it
} array_interface;

typedef struct { // dlpack.h: DLTensor
    char *memory;
    int32_t device_type, device_id;
    int32_t ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape;
    int64_t *strides; // NULL: C order; counted in elements
    uint64_t byte_offset;
} dl_tensor;

typedef struct { // dlpack.h: DLManagedTensorVersioned, up to the tensor
    uint32_t major, minor;
    void *context;
    void *deleter;
    uint64_t flags; // bit 0: read-only
    dl_tensor tensor;
} dl_versioned;

typedef struct { // arrow/c/abi.h: ArrowSchema, its first field
    const char *format;
} arrow_schema;

typedef struct { // arrow/c/abi.h: ArrowArray, up to its buffers
    int64_t length, null_count, offset, buffer_count, child_count;
    const void **buffers;
} arrow_array;

// Copies a struct out of a capsule. Returns 0, or -1 with ValueError set.
static int capsule_read(PyObject *capsule /* borrowed */, const char *name, void *to, size_t bytes) {
    if (!PyCapsule_IsValid(capsule, name)) {
        return error_set(PyExc_ValueError, "not a capsule named '%s'", name ? name : "NULL");
    }
    if (memory_read((uintptr_t)PyCapsule_GetPointer(capsule, name), to, bytes) != bytes) {
        return error_set(PyExc_ValueError, "the capsule's pointer cannot be read");
    }
    return 0;
}

// A tuple of `count` 64-bit integers times `unit`. Returns a new reference, or NULL with ValueError set.
static PyObject *capsule_integers(const void *address, int64_t count, int64_t unit) {
    int64_t integers[MOST_DIMENSIONS];
    if (count < 0 || count > MOST_DIMENSIONS) {
        return PyErr_Format(PyExc_ValueError, "the capsule says %lld dimensions", (long long)count);
    }
    const size_t bytes = (size_t)count * sizeof(*integers);
    if (memory_read((uintptr_t)address, integers, bytes) != bytes) {
        return PyErr_Format(PyExc_ValueError, "the capsule's shape or strides cannot be read");
    }
    PyObject *_owned_ result = PyTuple_New((Py_ssize_t)count);
    for (Py_ssize_t i = 0; result && i < (Py_ssize_t)count; i++) {
        if (tuple_set(result, i, PyLong_FromLongLong((int64_t)((uint64_t)integers[i] * (uint64_t)unit))) <
            0) {
            return NULL;
        }
    }
    return take(result);
}

static PyObject *protocols_array_struct(PyObject *module /* borrowed */, PyObject *capsule /* borrowed */) {
    array_interface read = {0};
    if (capsule_read(capsule, NULL, &read, sizeof(read)) < 0) {
        return NULL;
    }
    if (read.two != 2) {
        return PyErr_Format(PyExc_ValueError, "the capsule's first word is %d, not 2", read.two);
    }
    PyObject *_owned_ shape = capsule_integers(read.shape, read.nd, 1);
    PyObject *_owned_ strides = shape ? capsule_integers(read.strides, read.nd, 1) : NULL;
    if (!strides) {
        return NULL;
    }
    const char kind[] = {read.kind > 32 && read.kind < 127 ? read.kind : '?', 0};
    return Py_BuildValue("(NOOisi)", PyLong_FromVoidPtr(read.memory), shape, strides, read.itemsize, kind,
                         read.flags);
}

static PyObject *protocols_dlpack(PyObject *module /* borrowed */, PyObject *capsule /* borrowed */) {
    dl_versioned read = {0};
    const int versioned = PyCapsule_IsValid(capsule, "dltensor_versioned");
    const int failed = versioned ? capsule_read(capsule, "dltensor_versioned", &read, sizeof(read))
                                 : capsule_read(capsule, "dltensor", &read.tensor, sizeof(read.tensor));
    if (failed) {
        return NULL;
    }
    const dl_tensor *tensor = &read.tensor;
    const int itemsize = (tensor->bits * tensor->lanes + 7) / 8;
    PyObject *_owned_ shape = capsule_integers(tensor->shape, tensor->ndim, 1);
    PyObject *_owned_ strides = !shape            ? NULL
                                : tensor->strides ? capsule_integers(tensor->strides, tensor->ndim, itemsize)
                                                  : Py_NewRef(Py_None);
    if (!strides) {
        return NULL;
    }
    return Py_BuildValue("(NOOiiiiiN)", PyLong_FromVoidPtr(tensor->memory + tensor->byte_offset), shape,
                         strides, itemsize, tensor->code, tensor->bits, tensor->device_type,
                         tensor->device_id, PyBool_FromLong(versioned && (read.flags & 1)));
}

// The format text of a schema. Returns a new reference, or NULL with ValueError set.
static PyObject *arrow_format(PyObject *capsule /* borrowed */) {
    arrow_schema schema;
    char text[FORMAT_BYTES + 1] = "";
    if (capsule_read(capsule, "arrow_schema", &schema, sizeof(schema)) < 0) {
        return NULL;
    }
    for (size_t i = 0; i < FORMAT_BYTES; i++) {
        if (memory_read((uintptr_t)schema.format + i, text + i, 1) != 1) {
            return PyErr_Format(PyExc_ValueError, "the schema's format cannot be read");
        }
        if (!text[i]) {
            break;
        }
    }
    return PyUnicode_DecodeLatin1(text, (Py_ssize_t)strnlen(text, FORMAT_BYTES), NULL);
}

static PyObject *protocols_arrow(PyObject *module /* borrowed */, PyObject *args /* borrowed */) {
    PyObject *schema_capsule, *array_capsule; // borrowed
    arrow_array array;
    if (!PyArg_ParseTuple(args, "OO:arrow", &schema_capsule, &array_capsule)) {
        return NULL;
    }
    PyObject *_owned_ format = arrow_format(schema_capsule);
    if (!format || capsule_read(array_capsule, "arrow_array", &array, sizeof(array)) < 0) {
        return NULL;
    }
    if (array.buffer_count > MOST_BUFFERS) {
        return PyErr_Format(PyExc_ValueError, "the array says %lld buffers", (long long)array.buffer_count);
    }
    PyObject *_owned_ buffers = capsule_integers(array.buffers, array.buffer_count, 1);
    if (!buffers) {
        return NULL;
    }
    return Py_BuildValue("(OLLLO)", format, (long long)array.length, (long long)array.null_count,
                         (long long)array.offset, buffers);
}

PART_FUNCTIONS(protocols, {"array_struct", protocols_array_struct, METH_O, NULL},
               {"dlpack", protocols_dlpack, METH_O, NULL}, {"arrow", protocols_arrow, METH_VARARGS, NULL})
