// Where the elements of a result or an argument lie: an array by its fields, a list of lists by its items,
// anything else by its span. Memory is used only where both its ends can be read.
// SPDX-License-Identifier: MIT
#include "objects/objects.h"
#include "trace/record/record.h"
#include "trace/values/call_values.h"

enum { DESCR_BYTEORDER = 26, BASES_MAX = 8 };

typedef samples_block block;

static int is_array(const call_value *seen) { return seen->letter == 'o' && spans_is_ndarray(seen->object); }

static int block_over(const char *memory, int axes, const Py_ssize_t *shape, const Py_ssize_t *strides,
                      const data_span *span, block *ret) {
    ret->memory = memory; // one by one: what lies beyond its axes is not read, and clearing it costs more
    ret->items = NULL;
    ret->axes = axes;
    ret->count = 1;
    ret->item_bytes = span->item_bytes;
    ret->kind = span->kind;
    ret->unit = span->unit;
    for (int axis = 0; axis < axes; axis++) {
        ret->shape[axis] = shape[axis];
        ret->strides[axis] = strides[axis];
        ret->count *= (uint64_t)shape[axis];
    }
    return 1;
}

// Python references are read as references; every other kind as bytes.
static int block_of_array(const call_value *seen, block *ret) {
    const ndarray_fields *array = (const ndarray_fields *)seen->object;
    char order = ((const char *)array->descr)[DESCR_BYTEORDER];
    if (array->nd > SAMPLES_AXES_MAX || order == '>') {
        return 0;
    }
    return block_over(array->memory, array->nd, array->dimensions, array->strides, &seen->span, ret);
}

static int is_within(const data_span *span, const data_span *whole) {
    return whole->start <= span->start && span->start + span->span_bytes <= whole->start + whole->span_bytes;
}

// Whether the memory of the array's owner contains all of the span.
static int owner_has(PyObject *object, const data_span *span) {
    data_span whole;
    for (int step = 0; step < BASES_MAX && object && spans_read(object, &whole); step++) {
        if (whole.flags & SPAN_OWNED) {
            return is_within(span, &whole);
        }
        object = spans_is_ndarray(object) ? ((const ndarray_fields *)object)->base : NULL; // borrowed
    }
    return 0;
}

// Whether both ends of the memory can be read. A view has an address that may be wrong: it was cast from a
// number, its strides lead elsewhere, or a mapped file was truncated (SIGBUS).
static int is_there(const call_value *seen) {
    const data_span *span = &seen->span;
    return span->flags & SPAN_OWNED || (is_array(seen) && owner_has(seen->object, span)) ||
           reported_is_there(span);
}

int samples_block_of(const call_value *seen, const char *kinds, samples_block *ret) {
    if (!seen->has_span || !seen->span.item_bytes || !seen->span.kind || !strchr(kinds, seen->span.kind) ||
        !is_there(seen)) {
        return 0;
    }
    if (is_array(seen)) {
        return block_of_array(seen, ret);
    }
    const data_span *span = &seen->span;
    if (seen->is_reported && span->axes) {
        return block_over((const char *)span->origin, span->axes, span->shape, span->strides, span, ret);
    }
    Py_ssize_t bytes = span->item_bytes, count = (Py_ssize_t)(span->logical_bytes / span->item_bytes);
    return span->flags & SPAN_C && block_over((const char *)span->start, 1, &count, &bytes, span, ret);
}

int samples_items_of(const call_value *seen, samples_block *ret) {
    if (seen->letter != 'L' || seen->inside) {
        return 0;
    }
    *ret = (block){.items = seen->object, .count = 1, .item_bytes = sizeof(PyObject *), .kind = 'O'};
    PyObject *level = seen->object; // borrowed
    Py_ssize_t items = spans_items(level);
    while (items > 0 && ret->axes < SAMPLES_AXES_MAX) {
        ret->shape[ret->axes++] = items;
        ret->count *= (uint64_t)items;
        level = PySequence_Fast_ITEMS(level)[0];
        items = level ? spans_items(level) : -1;
    }
    return ret->axes > 0 && items != 0;
}

// Address of an item in nested lists; NULL where a list differs in length from the first of its level.
static const char *item(const block *of, uint64_t at) {
    Py_ssize_t index[SAMPLES_AXES_MAX];
    for (int axis = of->axes - 1; axis >= 0; axis--) {
        index[axis] = (Py_ssize_t)(at % (uint64_t)of->shape[axis]);
        at /= (uint64_t)of->shape[axis];
    }
    PyObject *level = of->items; // borrowed
    for (int axis = 0;; axis++) {
        if (!level || spans_items(level) != of->shape[axis]) {
            return NULL;
        }
        PyObject **place = &PySequence_Fast_ITEMS(level)[index[axis]];
        if (axis == of->axes - 1) {
            return (const char *)place;
        }
        level = *place;
    }
}

const char *samples_element(const block *of, uint64_t at) {
    if (of->items) {
        return item(of, at);
    }
    const char *place = of->memory;
    for (int axis = of->axes - 1; axis >= 0; axis--) {
        uint64_t extent = (uint64_t)of->shape[axis];
        place += (Py_ssize_t)(at % extent) * of->strides[axis];
        at /= extent;
    }
    return place;
}

element samples_read(const char *place, const block *of, const block *other) {
    return of->unit && other->unit ? elements_read_timed(place, of->item_bytes, of->unit)
                                   : elements_read(place, of->kind, of->item_bytes);
}
