// Compact records: a call whose values lie in its own record, as for most calls of Python's own functions.
//
// A call with at most two arguments that are numbers, booleans, None or short ASCII texts, of a method of
// such an object, a list, tuple or dict, or of a module's function, stores its values in words that its
// record does not need: one cache line instead of three for the call, its PLAIN and its VALUE continuations.
// Such arguments cannot change and their caller owns them, so they are read after the call; the size of a
// list or dict is read before it. If the values turn out not to fit (a longer int, another kind of result),
// the call is recorded like any other.
//
// refs_delta of a COMPACT record says what it holds, half a byte each, lowest first: the object whose method
// it is, argument 1, argument 2, the result. Their words are in obj, val and aux, in that order.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_COMPACT_RECORD_H
#define INSPECTOR_COMPACT_RECORD_H

#include "trace/record/convention.h"
#include "trace/record/plain.h"
#include "trace/record/ring.h"
#include "trace/record/sites.h"
#include "trace/values/call_values.h"

enum { COMPACT_SELF, COMPACT_FIRST, COMPACT_SECOND, COMPACT_RESULT };
enum { COMPACT_WORDS = 3 };

typedef struct {
    PyObject *values[COMPACT_RESULT]; // borrowed; NULL: absent
    uint64_t size;                    // word of a list, tuple or dict at COMPACT_SELF
    uint32_t kind;                    // its COMPACT_LIST, COMPACT_TUPLE or COMPACT_DICT; else 0
} compact_inputs;

typedef struct {
    uint64_t words[COMPACT_WORDS];
    uint32_t used, shape;
    int32_t small;
    uint32_t behind; // a bit for each place whose text does not fit
    PyObject *text;  // borrowed: the text that fits; or NULL
} compact_values;

// ----- before the call ------------------------------------------------------------------------------

ALWAYS_INLINE int compact_is_scalar(PyObject *object /* borrowed */) {
    PyTypeObject *type = Py_TYPE(object);
    return type == &PyLong_Type || type == &PyUnicode_Type || type == &PyFloat_Type || object == Py_None ||
           type == &PyBool_Type;
}

// The object whose method is called; 0 where its type does not fit a compact record.
ALWAYS_INLINE int compact_take_self(PyObject *self /* borrowed; NULL: a static method */,
                                    compact_inputs *ret) {
    PyTypeObject *type = self ? Py_TYPE(self) : NULL;
    if (!self || type == &PyModule_Type) {
        return 1;
    }
    ret->values[COMPACT_SELF] = self;
    if (compact_is_scalar(self)) {
        return 1;
    }
    ret->kind = type == &PyList_Type    ? COMPACT_LIST
                : type == &PyTuple_Type ? COMPACT_TUPLE
                : type == &PyDict_Type  ? COMPACT_DICT
                                        : 0;
    int is_dict = ret->kind == COMPACT_DICT;
    Py_ssize_t items = is_dict ? ((PyDictObject *)self)->ma_used : ret->kind ? Py_SIZE(self) : 0;
    PyObject *first = is_dict || !items ? NULL : *PySequence_Fast_ITEMS(self); // borrowed
    ret->size = (uint64_t)items | (uint64_t)(first ? interned_id((PyObject *)Py_TYPE(first)) : 0) << 32;
    return ret->kind && items <= UINT32_MAX;
}

ALWAYS_INLINE int compact_take_vector(PyObject *const *items /* borrowed */, size_t count, uintptr_t named,
                                      compact_inputs *ret) {
    ret->values[COMPACT_FIRST] = count ? items[0] : NULL;
    ret->values[COMPACT_SECOND] = count > 1 ? items[1] : NULL;
    return count <= 2 && !named;
}

ALWAYS_INLINE int compact_take_arguments(uint8_t convention, uintptr_t b, uintptr_t c, uintptr_t d,
                                         compact_inputs *ret) {
    PyObject *const *items = (PyObject *const *)b;
    switch (convention) {
    case CALL_NOARGS:
        return 1;
    case CALL_O:
        ret->values[COMPACT_FIRST] = (PyObject *)b;
        return 1;
    case CALL_VARARGS: // its third word is garbage
        return compact_take_vector(PySequence_Fast_ITEMS((PyObject *)b), (size_t)Py_SIZE((PyObject *)b), 0,
                                   ret);
    case CALL_KEYWORDS:
        return compact_take_vector(PySequence_Fast_ITEMS((PyObject *)b), (size_t)Py_SIZE((PyObject *)b), c,
                                   ret);
    case CALL_FASTCALL:
        return compact_take_vector(items, c, 0, ret);
    case CALL_FAST_NAMES:
        return compact_take_vector(items, c, d, ret);
    case CALL_VECTOR:
        return compact_take_vector(items, (size_t)calls_positional(c), d, ret);
    default:
        return 0;
    }
}

// Whether the call's arguments fit a compact record; sets them.
ALWAYS_INLINE int compact_before(uint8_t convention, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,
                                 compact_inputs *ret) {
    *ret = (compact_inputs){.size = 0};
    int has_few = compact_take_arguments(convention, b, c, d, ret);
    PyObject *first = ret->values[COMPACT_FIRST], *second = ret->values[COMPACT_SECOND]; // borrowed
    return has_few && (!first || compact_is_scalar(first)) && (!second || compact_is_scalar(second)) &&
           (convention == CALL_VECTOR || compact_take_self((PyObject *)a, ret));
}

// ----- after it -------------------------------------------------------------------------------------

ALWAYS_INLINE uint64_t compact_load(const char *from, size_t bytes) { // at most 8; reads nothing beyond
    uint32_t low, high;
    if (bytes >= 8) {
        uint64_t all;
        memcpy(&all, from, sizeof all);
        return all;
    }
    if (bytes >= 4) { // the two loads may overlap in equal bytes
        memcpy(&low, from, sizeof low);
        memcpy(&high, from + bytes - 4, sizeof high);
        return low | (uint64_t)high << 8 * (bytes - 4);
    }
    const uint8_t *few = (const uint8_t *)from;
    return !bytes ? 0
                  : few[0] | (uint64_t)few[bytes / 2] << 8 * (bytes / 2) |
                        (uint64_t)few[bytes - 1] << 8 * (bytes - 1);
}

// The first 16 characters of an ASCII text, in two words.
ALWAYS_INLINE void compact_characters(PyObject *text /* borrowed */, uint64_t *ret, uint64_t *ret_more) {
    const char *from = (const char *)((PyASCIIObject *)text + 1);
    size_t length = (size_t)PyUnicode_GET_LENGTH(text);
    *ret = compact_load(from, length);
    *ret_more = length > 8 ? compact_load(from + 8, length - 8) : 0;
}

ALWAYS_INLINE int compact_set(compact_values *into, int place, uint32_t kind) {
    into->shape |= kind << 4 * place;
    return 1;
}

ALWAYS_INLINE int compact_add_word(compact_values *into, int place, uint32_t kind, uint64_t word) {
    if (into->used == COMPACT_WORDS) {
        return 0;
    }
    into->words[into->used++] = word;
    return compact_set(into, place, kind);
}

ALWAYS_INLINE int compact_add_int(compact_values *into, int place, PyObject *number /* borrowed */) {
    int64_t value;
    if (!compat_int_short(number, &value)) {
        return 0;
    }
    if (into->used < COMPACT_WORDS) {
        return compact_add_word(into, place, COMPACT_INT, (uint64_t)value);
    }
    int is_free = value == (int32_t)value && place == COMPACT_RESULT;
    into->small = (int32_t)value;
    return is_free && compact_set(into, place, COMPACT_SMALL);
}

ALWAYS_INLINE int compact_add_text(compact_values *into, int place, PyObject *text /* borrowed */) {
    if (!PyUnicode_IS_COMPACT_ASCII(text) || PyUnicode_GET_LENGTH(text) >= TEXT_BYTES_LEAST) {
        return 0;
    }
    if (into->used) {
        into->behind |= 1u << place;
        return 1;
    }
    into->words[0] = (uint64_t)(uintptr_t)text;
    into->used = COMPACT_WORDS;
    into->text = text;
    return compact_set(into, place, COMPACT_TEXT);
}

ALWAYS_INLINE int compact_add(compact_values *into, int place, PyObject *object /* borrowed */) {
    PyTypeObject *type = Py_TYPE(object);
    if (type == &PyLong_Type) {
        return compact_add_int(into, place, object);
    }
    if (type == &PyUnicode_Type) {
        return compact_add_text(into, place, object);
    }
    if (type == &PyFloat_Type) {
        uint64_t bits;
        memcpy(&bits, &((PyFloatObject *)object)->ob_fval, sizeof bits);
        return compact_add_word(into, place, COMPACT_FLOAT, bits);
    }
    uint32_t kind = object == Py_None    ? COMPACT_NONE
                    : object == Py_True  ? COMPACT_TRUE
                    : object == Py_False ? COMPACT_FALSE
                                         : 0;
    return kind && compact_set(into, place, kind);
}

ALWAYS_INLINE int compact_add_self(compact_values *into, const compact_inputs *inputs) {
    PyObject *self = inputs->values[COMPACT_SELF]; // borrowed
    if (!inputs->kind) {
        return !self || compact_add(into, COMPACT_SELF, self);
    }
    into->words[0] = (uint64_t)(uintptr_t)self;
    into->words[1] = inputs->size;
    into->used = 2;
    return compact_set(into, COMPACT_SELF, inputs->kind);
}

// Whether all values fit. A text taken from a list is compared with its items, so it is recorded in full.
ALWAYS_INLINE int compact_read(const compact_inputs *inputs, PyObject *result /* borrowed */,
                               compact_values *ret) {
    PyObject *first = inputs->values[COMPACT_FIRST], *second = inputs->values[COMPACT_SECOND]; // borrowed
    *ret = (compact_values){.used = 0};
    return compact_add_self(ret, inputs) && (!first || compact_add(ret, COMPACT_FIRST, first)) &&
           (!second || compact_add(ret, COMPACT_SECOND, second)) &&
           !(inputs->kind && Py_IS_TYPE(result, &PyUnicode_Type)) && compact_add(ret, COMPACT_RESULT, result);
}

typedef struct {
    uint64_t start, spent;
    uint32_t slot, type;
    sites_place site;
    uint8_t kind, depth;
} compact_call;

// Writes one text of `behind` as a continuation.
ALWAYS_INLINE void compact_write_text(int place, PyObject *text /* borrowed */, uint8_t depth) {
    uint32_t type = interned_id((PyObject *)&PyUnicode_Type);
    event *record = ring_open();
    if (!record) {
        return;
    }
    int is_result = place == COMPACT_RESULT;
    compact_characters(text, &record->val, &record->start);
    record->obj = (uint64_t)(uintptr_t)text;
    record->aux = (uint64_t)PyUnicode_GET_LENGTH(text);
    record->duration = record->slot = record->code = 0;
    record->type = type;
    record->lasti = is_result ? 0 : place;
    record->refs = 0;
    record->refs_delta = 0;
    record->func = 's';
    record->flags = (uint16_t)(EVENT_FLAG_CONTINUATION | (is_result ? EVENT_FLAG_OUTPUT : 0));
    record->kind = EVENT_VALUE;
    record->depth = depth;
    ring_commit();
}

ALWAYS_INLINE int compact_write_call(const compact_call *call, const compact_values *values) {
    event *record = ring_open();
    if (!record) {
        return 0;
    }
    record->start = call->start;
    record->obj = values->words[0];
    record->val = values->words[1];
    record->aux = values->words[2];
    record->slot = call->slot;
    record->type = call->type;
    record->code = call->site.code;
    record->lasti = call->site.lasti;
    record->refs = values->small;
    record->refs_delta = (int16_t)values->shape;
    record->func = 0;
    record->flags = EVENT_FLAG_DEEP | EVENT_FLAG_COMPACT;
    record->kind = call->kind;
    record->depth = call->depth;
    if (values->text) {
        compact_characters(values->text, &record->val, &record->aux);
        record->func = (uint16_t)PyUnicode_GET_LENGTH(values->text);
    }
    ring_keep_ticks(record, call->spent);
    ring_commit();
    return 1;
}

// Writes the record of the call, and a continuation for each text that does not fit into it.
ALWAYS_INLINE void compact_write(const compact_call *call, const compact_inputs *inputs,
                                 PyObject *result /* borrowed */, const compact_values *values) {
    uint32_t behind = compact_write_call(call, values) ? values->behind : 0;
    for (; behind; behind &= behind - 1) {
        int place = __builtin_ctz(behind);
        compact_write_text(place, place == COMPACT_RESULT ? result : inputs->values[place], call->depth);
    }
}

#endif
