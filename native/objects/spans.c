// The bytes behind arrays, byte strings and buffers, read from their C structs in a few loads each.
//
// A trace compares the bytes of arguments and results at each call. Asking an object for them (the buffer
// protocol, __array_interface__) would run its code, raise its export count and take microseconds; the
// structs of ndarray, bytes, bytearray, str, memoryview, array.array and ctypes are stable and take tens of
// nanoseconds. What is not told here is asked at the border of the cell, or is unknown.
//
// Nothing is imported: `spans_prepare` looks whether the process has done so. The types it keeps are static
// in their libraries, so the pointers stay good; array.array is a heap type and is held (owned, for good).
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#include "objects/spans.h"
#include "objects/objects.h"

enum { NDARRAY_C = 0x1, NDARRAY_F = 0x2, NDARRAY_OWNS = 0x4, NDARRAY_WRITEABLE = 0x400 };
enum { DESCR_KIND = 24, DESCR_SIZE_1 = 32, DESCR_SIZE_2 = 40 }; // numpy/ndarraytypes.h: PyArray_Descr
enum { DESCR_TIME_1 = 80, DESCR_TIME_2 = 112 };                 // its c_metadata, in NumPy 1 and 2

typedef struct { // numpy/ndarraytypes.h: PyArray_DatetimeDTypeMetaData
    void *head[4];
    int unit, count;
} time_fields;

typedef struct { // Modules/arraymodule.c
    PyObject_VAR_HEAD char *items;
    Py_ssize_t allocated;
    const struct {
        char typecode;
        int item_bytes;
    } *descr;
} array_fields;

static PyTypeObject *ndarray_type;   // borrowed: static
static PyTypeObject *array_type;     // owned, for the life of the process
static PyTypeObject *ctypes_base;    // owned, for the life of the process
static Py_ssize_t descr_size_offset; // where a dtype keeps its element size: NumPy 1 or 2

// A dtype of 8 bytes keeps the 8 as an int at one place in NumPy 1 and as a long at another in NumPy 2,
// where the first holds its flags.
static void prepare_numpy(void) {
    PyTypeObject *type = native_imported_type("numpy", "ndarray");                    // borrowed
    PyTypeObject *scalar = type ? native_imported_type("numpy", "float64") : NULL;    // borrowed
    _owned_ PyObject *zero = scalar ? PyObject_CallNoArgs((PyObject *)scalar) : NULL; // owned
    _owned_ PyObject *dtype = zero ? PyObject_GetAttrString(zero, "dtype") : NULL;    // owned
    if (!dtype || Py_TYPE(dtype)->tp_basicsize < DESCR_SIZE_2 + 8) {
        return;
    }
    int first;
    memcpy(&first, (const char *)dtype + DESCR_SIZE_1, sizeof first);
    descr_size_offset = first == 8 ? DESCR_SIZE_1 : DESCR_SIZE_2;
    ndarray_type = type;
}

void spans_prepare(void) {
    if (!ndarray_type) {
        prepare_numpy();
    }
    if (!array_type) {
        array_type = (PyTypeObject *)Py_XNewRef(native_imported_type("array", "array"));
    }
    if (!ctypes_base) {
        PyTypeObject *simple = native_imported_type("_ctypes", "Array");
        ctypes_base = simple ? (PyTypeObject *)Py_NewRef(simple->tp_base) : NULL;
    }
    PyErr_Clear();
}

#define UNIT_NAME(name) #name,
static const char *const unit_names[] = {SPAN_UNITS(UNIT_NAME)};
enum { UNITS = sizeof unit_names / sizeof *unit_names };

static uint8_t dated(char kind, int number) {
    return (uint8_t)((number + 1) | (kind == 'M' ? SPAN_DATES : 0));
}

uint8_t spans_unit(char kind, const char *name) {
    for (int i = 0; i < UNITS; i++) {
        if (strcmp(unit_names[i], name) == 0) {
            return dated(kind, i);
        }
    }
    return 0;
}

// The unit of dates or durations; 0 for several of them, as in "m8[25s]".
static uint8_t unit_of(const char *descr, char kind) {
    const time_fields *told;
    memcpy(&told, descr + (descr_size_offset == DESCR_SIZE_1 ? DESCR_TIME_1 : DESCR_TIME_2), sizeof told);
    return told && told->count == 1 && told->unit >= 0 && told->unit < UNITS ? dated(kind, told->unit) : 0;
}

static void describe(const ndarray_fields *array, data_span *ret) {
    const char *descr = (const char *)array->descr;
    ret->kind = descr[DESCR_KIND];
    if (descr_size_offset == DESCR_SIZE_1) {
        memcpy(&ret->item_bytes, descr + DESCR_SIZE_1, sizeof(int));
    } else {
        int64_t bytes;
        memcpy(&bytes, descr + DESCR_SIZE_2, sizeof bytes);
        ret->item_bytes = (uint32_t)bytes;
    }
    ret->unit = ret->kind == 'M' || ret->kind == 'm' ? unit_of(descr, ret->kind) : 0;
}

// The extent of strided elements: strides may be negative, and 0 on an axis that repeats.
static void measure(char *memory, int axes, const Py_ssize_t *shape, const Py_ssize_t *strides,
                    data_span *ret) {
    uintptr_t low = (uintptr_t)memory, high = low;
    uint64_t count = 1;
    for (int axis = 0; axis < axes; axis++) {
        Py_ssize_t extent = strides ? (shape[axis] - 1) * strides[axis] : 0;
        count *= (uint64_t)shape[axis];
        *(extent < 0 ? &low : &high) += (uintptr_t)extent;
    }
    ret->start = low;
    ret->logical_bytes = count * ret->item_bytes;
    ret->span_bytes = !count ? 0 : strides ? high - low + ret->item_bytes : ret->logical_bytes;
}

static int read_ndarray(const ndarray_fields *array, data_span *ret) {
    if (!array->descr || !array->memory || array->nd < 0 || array->nd > 64) {
        return 0;
    }
    describe(array, ret);
    measure(array->memory, array->nd, array->dimensions, array->strides, ret);
    ret->flags = (array->flags & NDARRAY_C ? SPAN_C : 0) | (array->flags & NDARRAY_F ? SPAN_F : 0) |
                 (array->flags & NDARRAY_WRITEABLE ? 0 : SPAN_READONLY) |
                 (array->flags & NDARRAY_OWNS ? SPAN_OWNED : 0);
    return 1;
}

// struct's letters (PEP 3118) as NumPy's kinds.
static char kind_of_format(const char *format) {
    char letter = format ? format[strspn(format, "@=<>!^")] : 'B';
    return !letter                     ? 0
           : strchr("?", letter)       ? 'b'
           : strchr("bhilqn", letter)  ? 'i'
           : strchr("BHILQNP", letter) ? 'u'
           : strchr("efdg", letter)    ? 'f'
           : letter == 's'             ? 'S'
           : letter == 'c'             ? 'S'
                                       : 'V';
}

static int read_memoryview(PyObject *object, data_span *ret) {
    const Py_buffer *view = PyMemoryView_GET_BUFFER(object);
    if (!view->buf || ((PyMemoryViewObject *)object)->flags & _Py_MEMORYVIEW_RELEASED) {
        return 0;
    }
    ret->item_bytes = (uint32_t)view->itemsize;
    ret->kind = kind_of_format(view->format);
    measure(view->buf, view->shape ? view->ndim : 0, view->shape, view->strides, ret);
    if (!view->shape) {
        ret->logical_bytes = ret->span_bytes = (uint64_t)view->len;
    }
    int flags = ((PyMemoryViewObject *)object)->flags;
    ret->flags = (flags & (_Py_MEMORYVIEW_C | _Py_MEMORYVIEW_SCALAR) ? SPAN_C : 0) |
                 (flags & _Py_MEMORYVIEW_FORTRAN ? SPAN_F : 0) | (view->readonly ? SPAN_READONLY : 0);
    return 1;
}

static int plain(const void *start, Py_ssize_t bytes, uint32_t item_bytes, char kind, int flags,
                 data_span *ret) {
    ret->start = (uintptr_t)start;
    ret->span_bytes = ret->logical_bytes = (uint64_t)bytes;
    ret->item_bytes = item_bytes;
    ret->kind = kind;
    ret->flags = (uint8_t)(flags | SPAN_C | SPAN_F);
    return 1;
}

static int read_str(PyObject *object, data_span *ret) {
    if (!PyUnicode_IS_READY(object)) {
        return 0;
    }
    uint32_t width = PyUnicode_KIND(object);
    return plain(PyUnicode_DATA(object), PyUnicode_GET_LENGTH(object) * (Py_ssize_t)width, width, 'U',
                 SPAN_READONLY | SPAN_OWNED, ret);
}

// By type, not by slot as objects/arrays.c tells it: bf_getbuffer may be hooked just now.
int spans_is_ndarray(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    return ndarray_type && (type == ndarray_type || PyType_IsSubtype(type, ndarray_type));
}

int spans_read(PyObject *object, data_span *ret) {
    ret->unit = 0;
    PyTypeObject *type = Py_TYPE(object);
    if (type == &PyBytes_Type) {
        return plain(PyBytes_AS_STRING(object), PyBytes_GET_SIZE(object), 1, 'S', SPAN_READONLY | SPAN_OWNED,
                     ret);
    }
    if (type == &PyUnicode_Type) {
        return read_str(object, ret);
    }
    if (type == &PyByteArray_Type) {
        return plain(PyByteArray_AS_STRING(object), PyByteArray_GET_SIZE(object), 1, 'S', SPAN_OWNED, ret);
    }
    if (type == &PyMemoryView_Type) {
        return read_memoryview(object, ret);
    }
    if (type == array_type) {
        const array_fields *array = (const array_fields *)object;
        const char code[2] = {array->descr->typecode, 0};
        return plain(array->items, Py_SIZE(object) * array->descr->item_bytes,
                     (uint32_t)array->descr->item_bytes, kind_of_format(code), SPAN_OWNED, ret);
    }
    if (spans_is_ndarray(object)) {
        return read_ndarray((const ndarray_fields *)object, ret);
    }
    if (ctypes_base && PyType_IsSubtype(type, ctypes_base)) {
        const ctypes_fields *held = (const ctypes_fields *)object;
        return plain(held->memory, held->bytes, 1, 'V', held->needs_free ? SPAN_OWNED : 0, ret);
    }
    return 0;
}

// Of a subclass of str or bytes too: an object of its own says as much, but a trace would take each
// numpy.str_ for a payload.
int spans_read_any(PyObject *object, data_span *ret) {
    if (spans_read(object, ret)) {
        return 1;
    }
    if (PyBytes_Check(object)) {
        return plain(PyBytes_AS_STRING(object), PyBytes_GET_SIZE(object), 1, 'S', SPAN_READONLY | SPAN_OWNED,
                     ret);
    }
    return PyUnicode_Check(object) && read_str(object, ret);
}

Py_ssize_t spans_items(PyObject *object) {
    return PyList_CheckExact(object) || PyTuple_CheckExact(object) ? Py_SIZE(object) : -1;
}
