// Memory that an object shows without a known owner: an array or memoryview of C memory, a ctypes
// from_address().
//
// Only structs are read, so no user code runs. An object with a known owner (an array with its own data,
// bytes, a ctypes object with its own memory) shows memory that is kept. An unknown base (a capsule, a class
// of a binding) may keep it or not; it counts as no owner.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "leaks/leaks.h"
#include "objects/objects.h"

enum { BASES_MAX = 16, IN_OBJECT_BYTES = 256 };
enum { OWNDATA = 0x4 }; // numpy/ndarraytypes.h

static PyTypeObject *ctypes_type; // borrowed: base class of all ctypes objects; NULL before the import

void borrowed_prepare(void) {
    PyTypeObject *structure = ctypes_type ? NULL : native_imported_type("_ctypes", "Structure");
    PyTypeObject *above = structure ? structure->tp_base : NULL;
    if (above && above->tp_basicsize >= (Py_ssize_t)sizeof(ctypes_fields)) {
        ctypes_type = above; // its module keeps it alive
    }
    PyErr_Clear();
}

static int is_ctypes(PyObject *object) {
    return ctypes_type && Py_TYPE(Py_TYPE(object)) != &PyType_Type &&
           PyType_IsSubtype(Py_TYPE(object), ctypes_type);
}

static int is_released(const PyMemoryViewObject *view) {
    return view->flags & _Py_MEMORYVIEW_RELEASED || view->mbuf->flags & _Py_MANAGED_BUFFER_RELEASED;
}

// Whether the object, or a base of it, is known to keep the memory that it shows.
static int is_kept_by(PyObject *object) {
    for (int i = 0; object && i < BASES_MAX; i++) {
        if (PyBytes_Check(object) || PyByteArray_Check(object)) {
            return 1;
        }
        if (arrays_is(object)) {
            const ndarray_fields *array = (const ndarray_fields *)object;
            if (array->flags & OWNDATA) {
                return 1;
            }
            object = array->base;
        } else if (PyMemoryView_Check(object)) {
            const PyMemoryViewObject *view = (const PyMemoryViewObject *)object;
            if (is_released(view)) {
                return 1;
            }
            object = view->mbuf->master.obj;
        } else if (is_ctypes(object)) {
            const ctypes_fields *fields = (const ctypes_fields *)object;
            if (fields->needs_free || fields->kept ||
                (uintptr_t)fields->memory - (uintptr_t)object < IN_OBJECT_BYTES) {
                return 1;
            }
            object = fields->base;
        } else {
            return 0;
        }
    }
    return 0;
}

static int range_of_array(const ndarray_fields *array, uintptr_t *ret_start, uintptr_t *ret_stop) {
    *ret_start = *ret_stop = (uintptr_t)array->memory;
    for (int axis = 0; axis < array->nd; axis++) {
        Py_ssize_t most = array->dimensions[axis] - 1;
        if (most < 0) {
            return 0;
        }
        *(array->strides[axis] < 0 ? ret_start : ret_stop) += (uintptr_t)(most * array->strides[axis]);
    }
    *ret_stop += 1;
    return 1;
}

int borrowed_range(PyObject *object, uintptr_t *ret_start, uintptr_t *ret_stop) {
    int is_array = arrays_is(object);
    if ((!is_array && !PyMemoryView_Check(object) && !is_ctypes(object)) || is_kept_by(object)) {
        return 0;
    }
    if (is_array) {
        return range_of_array((const ndarray_fields *)object, ret_start, ret_stop);
    }
    if (PyMemoryView_Check(object)) {
        const Py_buffer *view = &((const PyMemoryViewObject *)object)->view;
        *ret_start = (uintptr_t)view->buf;
        *ret_stop = *ret_start + (size_t)(view->len > 0 ? view->len : 0);
    } else {
        const ctypes_fields *fields = (const ctypes_fields *)object;
        *ret_start = (uintptr_t)fields->memory;
        *ret_stop = *ret_start + (size_t)(fields->bytes > 0 ? fields->bytes : 0);
    }
    return *ret_start < *ret_stop;
}
