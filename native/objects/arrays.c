// What an ndarray refers to. NumPy's arrays are no gc objects: tp_traverse knows nothing of their base, of
// their dtype, nor of the objects in an array of dtype object; without them a walk of the heap loses a big
// array that only a view keeps.
//
// NumPy is not imported for this: `arrays_prepare` looks whether the process has done so. Its ndarray is a
// static type, so the pointer stays good for the life of the process. Subclasses inherit the buffer slot.
// Elements are read from arrays that own a plain block of object pointers; a view's elements belong to the
// owner. Objects inside structured dtypes are left out: only NumPy can say where they lie.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#include "objects/objects.h"

enum {
    OWNDATA = 0x4,
    TYPE_OBJECT = 17,
    TYPE_NUMBER_OFFSET = sizeof(PyObject) + 12
}; // numpy/ndarraytypes.h, NumPy 1 and 2

static getbufferproc array_getbuffer; // NULL until NumPy is imported
PyTypeObject *arrays_type;

void arrays_prepare(void) {
    PyTypeObject *ndarray = array_getbuffer ? NULL : native_imported_type("numpy", "ndarray");
    if (ndarray && Py_IS_TYPE(ndarray, &PyType_Type)) {
        int known = strcmp(ndarray->tp_name, "numpy.ndarray") == 0 && ndarray->tp_as_buffer &&
                    ndarray->tp_basicsize >= (Py_ssize_t)sizeof(ndarray_fields);
        arrays_type = known ? ndarray : NULL;
        array_getbuffer = known ? ndarray->tp_as_buffer->bf_getbuffer : NULL; // last: another thread may ask
    }
    PyErr_Clear();
}

int arrays_is(PyObject *object) {
    PyBufferProcs *buffer = Py_TYPE(object)->tp_as_buffer;
    return array_getbuffer && buffer && buffer->bf_getbuffer == array_getbuffer;
}

// How many object pointers stand at array->memory: 0 for an array of numbers, and for a view.
static size_t element_count(const ndarray_fields *array) {
    int number = 0;
    if (array->descr) { // NULL in a half-built one
        memcpy(&number, (const char *)array->descr + TYPE_NUMBER_OFFSET, sizeof number);
    }
    size_t count = number == TYPE_OBJECT && array->flags & OWNDATA && array->memory ? 1 : 0;
    for (int axis = 0; count && axis < array->nd; axis++) {
        count *= (size_t)array->dimensions[axis];
    }
    return count;
}

int arrays_has_objects(PyObject *object) {
    return arrays_is(object) && element_count((const ndarray_fields *)object) > 0;
}

int arrays_visit(PyObject *object, visitproc visit, void *arg) {
    const ndarray_fields *array = (const ndarray_fields *)object;
    Py_VISIT(array->base);
    Py_VISIT(array->descr);
    size_t count = element_count(array);
    for (size_t i = 0; i < count; i++) {
        PyObject *element = ((PyObject **)array->memory)[i]; // borrowed, NULL where nothing was stored
        Py_VISIT(element);
    }
    return 0;
}

int arrays_find(PyObject *object, PyObject *target, link_found *ret) {
    const ndarray_fields *array = (const ndarray_fields *)object;
    if (array->base == target || array->descr == target) {
        *ret = (link_found){array->base == target ? "base" : "attribute",
                            array->base == target ? "base" : "dtype", NULL, -1};
        return 1;
    }
    size_t count = element_count(array);
    for (size_t i = 0; i < count; i++) {
        if (((PyObject **)array->memory)[i] == target) {
            *ret = (link_found){"item", NULL, NULL, (Py_ssize_t)i};
            return 1;
        }
    }
    return 0;
}
