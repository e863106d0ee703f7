// Values folded into the record of their own call: what most calls of Python's own functions are.
//
// A call of at most two arguments that are numbers, truths, None or short texts in ASCII, of such an object,
// of a list, tuple or dict, or of a module, has room for its values in the words that its record does not
// need: one line of memory is written, where the call, its PLAIN and its VALUE continuations would be three.
// Such arguments cannot change and their caller holds them, so they are read when the call is over; a list's
// or dict's size is kept from before. What turns out to have no room (a longer int, another kind of result)
// is recorded as every other call is: nothing has been written then.
//
// A record with FOLDED says what it holds in refs_delta, half a byte each, the lowest first: of the object
// whose method it is, of argument 1 and 2, of the result. Words are taken from obj, val and aux, in that
// order.
#ifndef INSPECTOR_FOLDED_H
#define INSPECTOR_FOLDED_H

#include "calls.h"
#include "interned.h"
#include "plain.h"
#include "ring.h"
#include "sites.h"
#include "witness.h"

enum { FOLDED_SELF, FOLDED_FIRST, FOLDED_SECOND, FOLDED_RESULT };
enum { FOLDED_WORDS = 3 };

typedef struct {
    PyObject *values[FOLDED_RESULT]; // borrowed; NULL: not there
    uint64_t size;                   // of a list, tuple or dict at FOLDED_SELF: its word
    uint32_t kind;                   // of such a one: FOLDED_LIST, FOLDED_TUPLE, FOLDED_DICT; else 0
} folded_given;

typedef struct {
    uint64_t words[FOLDED_WORDS];
    uint32_t used, shape;
    int32_t small;
    uint32_t behind; // places whose text has no room: a bit each
    PyObject *text;  // borrowed: the one that has room; or NULL
} folded_values;

#define FOLDED_INLINE static inline __attribute__((always_inline))

// ----- before the call ------------------------------------------------------------------------------

FOLDED_INLINE int folded_is_scalar(PyObject *object /* borrowed */) {
    PyTypeObject *type = Py_TYPE(object);
    return type == &PyLong_Type || type == &PyUnicode_Type || type == &PyFloat_Type || object == Py_None ||
           type == &PyBool_Type;
}

// The object whose method is called; 0 where it is of a kind that is not folded.
FOLDED_INLINE int folded_take_self(PyObject *self /* borrowed; NULL: a static method */, folded_given *ret) {
    PyTypeObject *type = self ? Py_TYPE(self) : NULL;
    if (!self || type == &PyModule_Type) {
        return 1;
    }
    ret->values[FOLDED_SELF] = self;
    if (folded_is_scalar(self)) {
        return 1;
    }
    ret->kind = type == &PyList_Type    ? FOLDED_LIST
                : type == &PyTuple_Type ? FOLDED_TUPLE
                : type == &PyDict_Type  ? FOLDED_DICT
                                        : 0;
    int is_dict = ret->kind == FOLDED_DICT;
    Py_ssize_t items = is_dict ? ((PyDictObject *)self)->ma_used : ret->kind ? Py_SIZE(self) : 0;
    PyObject *first = is_dict || !items ? NULL : *PySequence_Fast_ITEMS(self); // borrowed
    ret->size = (uint64_t)items | (uint64_t)(first ? interned_id((PyObject *)Py_TYPE(first)) : 0) << 32;
    return ret->kind && items <= UINT32_MAX;
}

FOLDED_INLINE int folded_take_vector(PyObject *const *items /* borrowed */, size_t count, uintptr_t named,
                                     folded_given *ret) {
    ret->values[FOLDED_FIRST] = count ? items[0] : NULL;
    ret->values[FOLDED_SECOND] = count > 1 ? items[1] : NULL;
    return count <= 2 && !named;
}

FOLDED_INLINE int folded_take_arguments(uint8_t convention, uintptr_t b, uintptr_t c, uintptr_t d,
                                        folded_given *ret) {
    PyObject *const *items = (PyObject *const *)b;
    switch (convention) {
    case CALL_NOARGS:
        return 1;
    case CALL_O:
        ret->values[FOLDED_FIRST] = (PyObject *)b;
        return 1;
    case CALL_VARARGS: // its third word is garbage
        return folded_take_vector(PySequence_Fast_ITEMS((PyObject *)b), (size_t)Py_SIZE((PyObject *)b), 0,
                                  ret);
    case CALL_KEYWORDS:
        return folded_take_vector(PySequence_Fast_ITEMS((PyObject *)b), (size_t)Py_SIZE((PyObject *)b), c,
                                  ret);
    case CALL_FASTCALL:
        return folded_take_vector(items, c, 0, ret);
    case CALL_FAST_NAMES:
        return folded_take_vector(items, c, d, ret);
    case CALL_VECTOR:
        return folded_take_vector(items, (size_t)calls_positional(c), d, ret);
    default:
        return 0;
    }
}

// Whether the call's values may be folded, and which they are.
FOLDED_INLINE int folded_before(uint8_t convention, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,
                                folded_given *ret) {
    *ret = (folded_given){.size = 0};
    int has_few = folded_take_arguments(convention, b, c, d, ret);
    PyObject *first = ret->values[FOLDED_FIRST], *second = ret->values[FOLDED_SECOND]; // borrowed
    return has_few && (!first || folded_is_scalar(first)) && (!second || folded_is_scalar(second)) &&
           (convention == CALL_VECTOR || folded_take_self((PyObject *)a, ret));
}

// ----- after it -------------------------------------------------------------------------------------

FOLDED_INLINE uint64_t folded_load(const char *from, size_t bytes) { // at most 8, nothing read behind them
    uint32_t low, high;
    if (bytes >= 8) {
        uint64_t all;
        memcpy(&all, from, sizeof all);
        return all;
    }
    if (bytes >= 4) { // the two may overlap in equal bytes
        memcpy(&low, from, sizeof low);
        memcpy(&high, from + bytes - 4, sizeof high);
        return low | (uint64_t)high << 8 * (bytes - 4);
    }
    const uint8_t *few = (const uint8_t *)from;
    return !bytes ? 0
                  : few[0] | (uint64_t)few[bytes / 2] << 8 * (bytes / 2) |
                        (uint64_t)few[bytes - 1] << 8 * (bytes - 1);
}

// The first 16 characters of a text in ASCII, in two words.
FOLDED_INLINE void folded_characters(PyObject *text /* borrowed */, uint64_t *ret, uint64_t *ret_more) {
    const char *from = (const char *)((PyASCIIObject *)text + 1);
    size_t length = (size_t)PyUnicode_GET_LENGTH(text);
    *ret = folded_load(from, length);
    *ret_more = length > 8 ? folded_load(from + 8, length - 8) : 0;
}

FOLDED_INLINE int folded_set(folded_values *into, int place, uint32_t kind) {
    into->shape |= kind << 4 * place;
    return 1;
}

FOLDED_INLINE int folded_add_word(folded_values *into, int place, uint32_t kind, uint64_t word) {
    if (into->used == FOLDED_WORDS) {
        return 0;
    }
    into->words[into->used++] = word;
    return folded_set(into, place, kind);
}

FOLDED_INLINE int folded_add_int(folded_values *into, int place, PyObject *number /* borrowed */) {
    int64_t value;
    if (!compat_int_short(number, &value)) {
        return 0;
    }
    if (into->used < FOLDED_WORDS) {
        return folded_add_word(into, place, FOLDED_INT, (uint64_t)value);
    }
    int is_free = value == (int32_t)value && place == FOLDED_RESULT;
    into->small = (int32_t)value;
    return is_free && folded_set(into, place, FOLDED_SMALL);
}

FOLDED_INLINE int folded_add_text(folded_values *into, int place, PyObject *text /* borrowed */) {
    if (!PyUnicode_IS_COMPACT_ASCII(text) || PyUnicode_GET_LENGTH(text) >= TEXT_BYTES_LEAST) {
        return 0;
    }
    if (into->used) {
        into->behind |= 1u << place;
        return 1;
    }
    into->words[0] = (uint64_t)(uintptr_t)text;
    into->used = FOLDED_WORDS;
    into->text = text;
    return folded_set(into, place, FOLDED_TEXT);
}

FOLDED_INLINE int folded_add(folded_values *into, int place, PyObject *object /* borrowed */) {
    PyTypeObject *type = Py_TYPE(object);
    if (type == &PyLong_Type) {
        return folded_add_int(into, place, object);
    }
    if (type == &PyUnicode_Type) {
        return folded_add_text(into, place, object);
    }
    if (type == &PyFloat_Type) {
        uint64_t bits;
        memcpy(&bits, &((PyFloatObject *)object)->ob_fval, sizeof bits);
        return folded_add_word(into, place, FOLDED_FLOAT, bits);
    }
    uint32_t kind = object == Py_None    ? FOLDED_NONE
                    : object == Py_True  ? FOLDED_TRUE
                    : object == Py_False ? FOLDED_FALSE
                                         : 0;
    return kind && folded_set(into, place, kind);
}

FOLDED_INLINE int folded_add_self(folded_values *into, const folded_given *given) {
    PyObject *self = given->values[FOLDED_SELF]; // borrowed
    if (!given->kind) {
        return !self || folded_add(into, FOLDED_SELF, self);
    }
    into->words[0] = (uint64_t)(uintptr_t)self;
    into->words[1] = given->size;
    into->used = 2;
    return folded_set(into, FOLDED_SELF, given->kind);
}

// Whether all of them have room. A text out of a list is compared with its items, as other results are.
FOLDED_INLINE int folded_read(const folded_given *given, PyObject *result /* borrowed */,
                              folded_values *ret) {
    PyObject *first = given->values[FOLDED_FIRST], *second = given->values[FOLDED_SECOND]; // borrowed
    *ret = (folded_values){.used = 0};
    return folded_add_self(ret, given) && (!first || folded_add(ret, FOLDED_FIRST, first)) &&
           (!second || folded_add(ret, FOLDED_SECOND, second)) &&
           !(given->kind && Py_IS_TYPE(result, &PyUnicode_Type)) && folded_add(ret, FOLDED_RESULT, result);
}

typedef struct {
    uint64_t start, spent;
    uint32_t slot, type;
    sites_place site;
    uint8_t kind, depth;
} folded_call;

// One of `behind`, as a continuation.
FOLDED_INLINE void folded_write_text(int place, PyObject *text /* borrowed */, uint8_t depth) {
    uint32_t type = interned_id((PyObject *)&PyUnicode_Type);
    event *record = ring_open();
    if (!record) {
        return;
    }
    int is_result = place == FOLDED_RESULT;
    folded_characters(text, &record->val, &record->start);
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

FOLDED_INLINE int folded_write_call(const folded_call *call, const folded_values *values) {
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
    record->flags = EVENT_FLAG_DEEP | EVENT_FLAG_FOLDED;
    record->kind = call->kind;
    record->depth = call->depth;
    if (values->text) {
        folded_characters(values->text, &record->val, &record->aux);
        record->func = (uint16_t)PyUnicode_GET_LENGTH(values->text);
    }
    ring_keep_ticks(record, call->spent);
    ring_commit();
    return 1;
}

// The record of the call, and a continuation for each text that has no room in it.
FOLDED_INLINE void folded_write(const folded_call *call, const folded_given *given,
                                PyObject *result /* borrowed */, const folded_values *values) {
    uint32_t behind = folded_write_call(call, values) ? values->behind : 0;
    for (; behind; behind &= behind - 1) {
        int place = __builtin_ctz(behind);
        folded_write_text(place, place == FOLDED_RESULT ? result : given->values[place], call->depth);
    }
}

#endif
