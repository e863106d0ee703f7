// The bytes an object lays open, read with as little contact as each type allows.
//
// Three ways, from no contact to most:
//  1. `speaks_buffer` reads one pointer of the TYPE: tp_as_buffer->bf_getbuffer. Nothing is called.
//  2. `ndarray_fields` and `exports` read C structs of exact types (their Python callers check the type). A
//     memoryview of an ndarray would leave 72 bytes with the array for its whole life (NumPy caches the
//     shape it exported in `_buffer_info`), so an ndarray is never asked for a buffer.
//  3. `ask_buffer` calls bf_getbuffer, copies what the Py_buffer says and releases it before returning.
//     That runs the exporter's code: Python decides for which types, this file does not.
//
// What an exporter answers is foreign data. Its shape, strides and format are pointers we did not make, so
// they are read through memory_read: a wild pointer gives ValueError, not a crash. The kernel lives on.
//
// The structs of array.array and mmap.mmap are private to CPython; they are written down here (unchanged
// from 3.8 to 3.13) and proved by the self test of inspector/adapters/language.py: a count that does not
// move when a memoryview is taken means "unknown", never a guess. PyArrayObject_fields is public, part of
// NumPy's ABI (numpy/ndarraytypes.h); it is written down so that NumPy is not needed to build.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#include "memory/memory.h"
#include "objects/objects.h"

enum {
    MOST_DIMENSIONS = 64, // PyBUF_MAX_NDIM, and NPY_MAXDIMS of NumPy 2
    FORMAT_BYTES = 256,   // a longer PEP 3118 format is cut
};

// Copies `bytes` from `address` of this process. Returns 0, or -1 with ValueError set.
static int buffer_read(void *to, const void *address, size_t bytes) {
    if (memory_read((uintptr_t)address, to, bytes) == bytes) {
        return 0;
    }
    return error_set(PyExc_ValueError, "the exporter's pointer %p cannot be read", address);
}

// A tuple of `count` integers. Returns a new reference.
static PyObject *buffer_integers(const Py_ssize_t *integers, int count) {
    PyObject *_owned_ result = PyTuple_New(count);
    for (int i = 0; result && i < count; i++) {
        if (tuple_set(result, i, PyLong_FromSsize_t(integers[i])) < 0) {
            return NULL;
        }
    }
    return take(result);
}

// The same, of integers at a foreign `address`. Returns a new reference, or NULL with ValueError set.
static PyObject *buffer_read_integers(const Py_ssize_t *address, int count) {
    Py_ssize_t integers[MOST_DIMENSIONS];
    if (count && buffer_read(integers, address, (size_t)count * sizeof(*integers)) < 0) {
        return NULL;
    }
    return buffer_integers(integers, count);
}

// The same, of an ndarray that lives: its memory needs no system call to be read, unless another thread may
// give the array another shape meanwhile.
#ifdef Py_GIL_DISABLED
#define array_integers buffer_read_integers
#else
#define array_integers buffer_integers
#endif

// The text at `address`, at most FORMAT_BYTES of it; "B" where there is none (PEP 3118). Returns new.
static PyObject *buffer_read_format(const char *address) {
    char text[FORMAT_BYTES + 1] = "B";
    if (address) {
        size_t length = 0;
        for (; length < FORMAT_BYTES; length++) {
            if (buffer_read(text + length, address + length, 1) < 0) {
                return NULL;
            }
            if (!text[length]) {
                break;
            }
        }
        text[length] = 0;
    }
    return PyUnicode_DecodeLatin1(text, (Py_ssize_t)strlen(text), NULL);
}

static PyObject *buffer_speaks(PyObject *module /* borrowed */, PyObject *type /* borrowed */) {
    if (!PyType_Check(type)) {
        return PyErr_Format(PyExc_TypeError, "speaks_buffer() takes a type");
    }
    PyBufferProcs *procs = ((PyTypeObject *)type)->tp_as_buffer;
    return PyBool_FromLong(procs && procs->bf_getbuffer);
}

// Strides of a C-contiguous block, for exporters that leave them out. Returns a new reference.
static PyObject *buffer_dense_strides(PyObject *shape /* borrowed */, Py_ssize_t itemsize) {
    Py_ssize_t count = PyTuple_GET_SIZE(shape);
    PyObject *_owned_ strides = PyTuple_New(count);
    Py_ssize_t step = itemsize;
    for (Py_ssize_t i = count; strides && i-- > 0;) {
        if (tuple_set(strides, i, PyLong_FromSsize_t(step)) < 0) {
            return NULL;
        }
        if (__builtin_mul_overflow(step, PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, i)), &step)) {
            step = 0; // a shape this large cannot be dense: its strides would not fit in memory either
        }
    }
    return take(strides);
}

static PyObject *buffer_describe(const Py_buffer *view) {
    if (view->ndim < 0 || view->ndim > MOST_DIMENSIONS) {
        return PyErr_Format(PyExc_ValueError, "the exporter says %d dimensions", view->ndim);
    }
    PyObject *_owned_ flat = Py_BuildValue("(n)", view->itemsize ? view->len / view->itemsize : view->len);
    PyObject *_owned_ shape =
        view->shape || !view->ndim ? buffer_read_integers(view->shape, view->ndim) : Py_XNewRef(flat);
    if (!shape) {
        return NULL;
    }
    PyObject *_owned_ strides = view->strides ? buffer_read_integers(view->strides, view->ndim)
                                              : buffer_dense_strides(shape, view->itemsize);
    PyObject *_owned_ format = buffer_read_format(view->format);
    if (!strides || !format) {
        return NULL;
    }
    const char *exporter = view->obj ? Py_TYPE(view->obj)->tp_name : "";
    return Py_BuildValue("(NnnOOOOOs)", PyLong_FromVoidPtr(view->buf), view->len, view->itemsize, format,
                         shape, strides, view->readonly ? Py_True : Py_False,
                         view->suboffsets ? Py_True : Py_False, exporter);
}

static PyObject *buffer_ask(PyObject *module /* borrowed */, PyObject *object /* borrowed */) {
    Py_buffer _buffer_ view = {0};
    return PyObject_GetBuffer(object, &view, PyBUF_FULL_RO) < 0 ? NULL : buffer_describe(&view);
}

typedef struct { // CPython: Modules/arraymodule.c
    PyObject_VAR_HEAD char *items;
    Py_ssize_t allocated;
    const void *descr;
    PyObject *weakrefs; // borrowed: we only look
    Py_ssize_t exports;
} array_fields;

typedef struct { // CPython: Modules/mmapmodule.c
    PyObject_HEAD char *memory;
    Py_ssize_t size;
    Py_ssize_t position;
    off_t offset;
    Py_ssize_t exports;
} mmap_fields;

static const struct {
    const char *type_name;
    Py_ssize_t offset;
    Py_ssize_t least_size;
} EXPORT_COUNTS[] = {
    {"bytearray", offsetof(PyByteArrayObject, ob_exports), sizeof(PyByteArrayObject)},
    {"memoryview", offsetof(PyMemoryViewObject, exports), offsetof(PyMemoryViewObject, ob_array)},
    {"array.array", offsetof(array_fields, exports), sizeof(array_fields)},
    {"mmap.mmap", offsetof(mmap_fields, exports), sizeof(mmap_fields)},
};

static PyObject *buffer_exports(PyObject *module /* borrowed */, PyObject *object /* borrowed */) {
    PyTypeObject *type = Py_TYPE(object); // borrowed
    for (size_t i = 0; i < Py_ARRAY_LENGTH(EXPORT_COUNTS); i++) {
        if (!strcmp(type->tp_name, EXPORT_COUNTS[i].type_name) &&
            type->tp_basicsize >= EXPORT_COUNTS[i].least_size) {
            return PyLong_FromSsize_t(*(Py_ssize_t *)((char *)object + EXPORT_COUNTS[i].offset));
        }
    }
    return PyErr_Format(PyExc_TypeError, "%.100s keeps no count of its exports that can be read",
                        type->tp_name);
}

static PyObject *buffer_ndarray_fields(PyObject *module /* borrowed */, PyObject *args /* borrowed */) {
    PyObject *object, *ndarray; // borrowed
    if (!PyArg_ParseTuple(args, "OO!:ndarray_fields", &object, &PyType_Type, &ndarray)) {
        return NULL;
    }
    // PyObject_TypeCheck walks tp_mro: no __instancecheck__, no __class__ of the user's is asked.
    if (!PyObject_TypeCheck(object, (PyTypeObject *)ndarray) ||
        ((PyTypeObject *)ndarray)->tp_basicsize < (Py_ssize_t)sizeof(ndarray_fields)) {
        return PyErr_Format(PyExc_TypeError, "not an ndarray: %.100s", Py_TYPE(object)->tp_name);
    }
    const ndarray_fields *array = (const ndarray_fields *)object;
    if (array->nd < 0 || array->nd > MOST_DIMENSIONS) {
        return PyErr_Format(PyExc_ValueError, "an ndarray of %d dimensions", array->nd);
    }
    PyObject *_owned_ shape = array_integers(array->dimensions, array->nd);
    PyObject *_owned_ strides = shape ? array_integers(array->strides, array->nd) : NULL;
    if (!strides) {
        return NULL;
    }
    return Py_BuildValue("(NOOiOO)", PyLong_FromVoidPtr(array->memory), shape, strides, array->flags,
                         array->base ? array->base : Py_None, array->descr ? array->descr : Py_None);
}

PART_FUNCTIONS(buffer, {"speaks_buffer", buffer_speaks, METH_O, NULL},
               {"ask_buffer", buffer_ask, METH_O, NULL}, {"exports", buffer_exports, METH_O, NULL},
               {"ndarray_fields", buffer_ndarray_fields, METH_VARARGS, NULL})
