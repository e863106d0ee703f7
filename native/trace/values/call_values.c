// The arguments and the result of a call as continuations: kind, size, bytes, and the Python line.
//
// Before the call each argument's struct is read (objects/spans.c) onto the C stack, since the call may
// change or free it. After it the records are written, the call's own first. One level of a short list or
// tuple is read: np.concatenate([a, b]). Runs no code of the objects; takes references to interned types and
// code objects only.
//
// A fresh result shows that bytes were made, not whether they are the argument's. So of an array with as many
// elements as an argument up to SAMPLES are compared while both live: equal ones mean a copy.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "trace/values/call_values.h"
#include "trace/record/convention.h"
#include "trace/record/record.h"
#include "trace/record/ring.h"
#include "trace/record/sites.h"

enum { ITEMS_READ = 8 };

int call_values_open, call_values_of_stdlib;

static void note(PyObject *object, uint8_t number, uint8_t inside, call_values *ret) {
    if (!object) {
        return;
    }
    if (ret->count == CALL_VALUES_MAX) {
        ret->left_out++;
        return;
    }
    call_value *value = &ret->arguments[ret->count];
    value_kind_read(object, number, inside, value);
    // The caller owns an argument until the call is over, but not the items of a list.
    int is_later = value->is_pending && !inside && reported_is_steady(value->type);
    ret->count += is_later ? 1 : value_kind_report(value, CALL_VALUES_MAX - ret->count);
    if (value->has_span) {
        samples_remember(value);
    }
}

static int has_bytes(PyObject *object) {
    data_span ignored[REPORTED_SPANS_MAX];
    return object && !PyUnicode_CheckExact(object) &&
           (spans_read(object, ignored) ||
            reported_spans(object, interned_id((PyObject *)Py_TYPE(object)), ignored) > 0);
}

static void note_values(PyObject *dict, uint8_t number, call_values *ret) {
    PyObject *key, *value; // borrowed
    Py_ssize_t at = 0;
    for (int i = 0; i < ITEMS_READ && PyDict_Next(dict, &at, &key, &value); i++) {
        if (has_bytes(value)) {
            note(value, number, 1, ret);
        }
    }
}

// An argument that is no plain value, and the arrays in a short list or dict of arrays.
static void note_other(PyObject *object, uint8_t number, call_values *ret) {
    note(object, number, 0, ret);
    if (object && PyDict_CheckExact(object)) {
        note_values(object, number, ret);
    }
    Py_ssize_t items = object ? spans_items(object) : -1;
    PyObject **first = items > 0 ? PySequence_Fast_ITEMS(object) : NULL;
    if (!first || !has_bytes(*first)) {
        return;
    }
    for (Py_ssize_t i = 0; i < items && i < ITEMS_READ; i++) {
        note(first[i], number, 1, ret);
    }
    ret->left_out += items > ITEMS_READ ? (int)(items - ITEMS_READ) : 0;
}

static inline void note_argument(PyObject *object, uint8_t number, call_values *ret) {
    if (!object || !plain_note(&ret->plain, object, number)) {
        note_other(object, number, ret);
    }
}

static void note_vector(PyObject *const *items, Py_ssize_t count, PyObject *names, call_values *ret) {
    count += names ? PyTuple_GET_SIZE(names) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        note_argument(items[i], (uint8_t)(i < 254 ? i + 1 : 255), ret);
    }
}

static void note_tuple(PyObject *tuple, PyObject *keywords, call_values *ret) {
    note_vector(PySequence_Fast_ITEMS(tuple), PyTuple_GET_SIZE(tuple), NULL, ret);
    PyObject *key, *value; // borrowed
    Py_ssize_t at = 0, number = PyTuple_GET_SIZE(tuple);
    while (keywords && PyDict_Next(keywords, &at, &key, &value)) {
        number++;
        note_argument(value, (uint8_t)(number < 255 ? number : 255), ret);
    }
}

#define OBJECT(word) ((PyObject *)(word))
#define OBJECTS(word) ((PyObject *const *)(word))

// `self` counts as an argument, except a module, and a binding framework's function record, which the caller
// never sees: pybind11's is a capsule, from its version 3 on an object of its own type.
static int is_argument(PyObject *self) {
    return self && !PyModule_Check(self) && !PyCapsule_CheckExact(self) &&
           strncmp(Py_TYPE(self)->tp_name, "pybind11_", 9) != 0;
}

static void note_arguments(call_convention convention, const uintptr_t words[5], call_values *ret) {
    PyObject *self = convention == CALL_VECTOR ? NULL : OBJECT(words[0]);
    if (is_argument(self) && !plain_note(&ret->plain, self, 0)) {
        note(self, 0, 0, ret);
    }
    switch (convention) {
    case CALL_VARARGS:
        note_tuple(OBJECT(words[1]), NULL, ret);
        break;
    case CALL_KEYWORDS:
        note_tuple(OBJECT(words[1]), OBJECT(words[2]), ret);
        break;
    case CALL_FASTCALL:
        note_vector(OBJECTS(words[1]), (Py_ssize_t)words[2], NULL, ret);
        break;
    case CALL_FAST_NAMES:
        note_vector(OBJECTS(words[1]), (Py_ssize_t)words[2], OBJECT(words[3]), ret);
        break;
    case CALL_VECTOR:
        note_vector(OBJECTS(words[1]), calls_positional(words[2]), OBJECT(words[3]), ret);
        break;
    case CALL_METHOD:
        note_vector(OBJECTS(words[2]), (Py_ssize_t)words[3], OBJECT(words[4]), ret);
        break;
    case CALL_O:
        note_argument(OBJECT(words[1]), 1, ret);
        break;
    case CALL_NOARGS:
    case CALL_UNARY:
    case CALL_BUFFER:
    case CALL_INDEXED:
    case CALL_DEALLOC:
    case CALL_ASSIGN: // armed for the ledger only
    case CALL_INIT:
    case CALL_NEXT:
    case CALL_SET:
    case CALL_PUT:
    case CALL_SEND:
    case CALL_ASKED:
    case CALL_LENGTH:
    case CALL_OPERATOR:
        break;
    }
}

void call_values_before(call_convention convention, const uintptr_t words[5], event *record,
                        call_values *ret) {
    ret->count = ret->left_out = 0;
    plain_init(&ret->plain);
    record->obj = words[0];
    record->type = words[0] ? interned_id((PyObject *)Py_TYPE(OBJECT(words[0]))) : 0;
    sites_locate(record);
    note_arguments(convention, words, ret);
    record->val = (uint64_t)ret->left_out;
}

static void write_value(const call_value *seen, int flags, uint16_t depth) {
    event *record = ring_open();
    if (record) {
        *record = (event){
            .kind = EVENT_VALUE,
            .flags = (uint16_t)(flags | EVENT_FLAG_CONTINUATION | (seen->inside ? EVENT_FLAG_INSIDE : 0)),
            .depth = (uint8_t)depth,
            .obj = (uint64_t)(uintptr_t)seen->object,
            .val = seen->val,
            .aux = seen->aux,
            .start = seen->is_shape ? 1 : seen->more,
            .type = seen->type,
            .lasti = seen->number,
            .func = seen->letter};
        ring_commit();
    }
}

static void write_span(const call_value *seen, int flags, uint16_t depth, uint32_t same) {
    event *record = ring_open();
    if (record) {
        *record = (event){
            .kind = EVENT_SPAN,
            .flags = (uint16_t)(flags | EVENT_FLAG_CONTINUATION | (seen->inside ? EVENT_FLAG_INSIDE : 0)),
            .depth = (uint8_t)depth,
            .obj = (uint64_t)(uintptr_t)seen->object,
            .val = seen->span.start,
            .aux = seen->span.span_bytes,
            .start = seen->span.logical_bytes,
            .lasti = (int32_t)seen->span.item_bytes,
            .refs = seen->span.flags,
            .code = same,
            .type = seen->type,
            .slot = seen->number,
            .func = (uint8_t)seen->span.kind};
        ring_commit();
    }
}

// A short str: its value record holds its characters, and its bytes count as no payload.
static int is_name(const call_value *seen) {
    return seen->letter == 's' && seen->span.span_bytes < TEXT_BYTES_LEAST;
}

static void write_seen(const call_value *seen, int flags, uint16_t depth, uint32_t same) {
    if (!seen->further) {
        write_value(seen, flags, depth);
    }
    if (seen->has_span && !is_name(seen)) {
        write_span(seen, flags, depth, same);
    }
}

static int has_failed(call_convention convention, uintptr_t result) {
    return convention == CALL_BUFFER ? (int)result < 0 : !result;
}

static void write_buffer(const Py_buffer *view, uint16_t depth) {
    ring_record(&(event){.kind = EVENT_BUFFER,
                         .flags = EVENT_FLAG_CONTINUATION | EVENT_FLAG_OUTPUT,
                         .depth = (uint8_t)depth,
                         .obj = (uint64_t)(uintptr_t)view->obj,
                         .val = (uint64_t)(uintptr_t)view->buf,
                         .aux = (uint64_t)view->len,
                         .lasti = (int32_t)view->itemsize,
                         .refs = view->ndim});
}

// Compares written memory. Arguments too few to fill it (three elements put into a thousand) are no copy.
static uint32_t compared_written(const call_value *made, const call_values *seen) {
    uint32_t mask = samples_compare(made, seen);
    return mask & SAMPLES_EQUAL && !samples_fill(made, seen, mask) ? (mask & ~SAMPLES_EQUAL) | SAMPLES_UNEQUAL
                                                                   : mask;
}

// A result that is also an argument may have been written to during the call.
static uint32_t compared(const call_value *made, const call_values *seen) {
    uint32_t written = 0;
    for (int i = 0; i < seen->count && !written; i++) {
        written = seen->arguments[i].object == made->object ? samples_written(&seen->arguments[i], made) : 0;
    }
    return written ? compared_written(made, seen) | written : samples_compare(made, seen);
}

// Gets the pending arguments' spans from the adapters, each in its place.
static void report_pending(call_values *seen) {
    for (int i = 0; i < seen->count; i++) {
        if (!seen->arguments[i].is_pending) {
            continue;
        }
        call_value reported[REPORTED_SPANS_MAX] = {seen->arguments[i]};
        int count = value_kind_report(reported, REPORTED_SPANS_MAX), behind = seen->count - i - 1;
        int fits = count < CALL_VALUES_MAX - i ? count : CALL_VALUES_MAX - i;
        int kept = behind < CALL_VALUES_MAX - i - fits ? behind : CALL_VALUES_MAX - i - fits;
        memmove(&seen->arguments[i + fits], &seen->arguments[i + 1], (size_t)kept * sizeof *reported);
        memcpy(&seen->arguments[i], reported, (size_t)fits * sizeof *reported);
        seen->left_out += behind - kept;
        seen->count = i + fits + kept;
    }
}

// Whether the call can have copied: it returned bytes, or None with an argument that it may have written to.
static int may_have_copied(const call_value *made /* NULL: none */, const call_values *seen) {
    int may = made && made->has_span;
    for (int i = 0; i < seen->count && made && !may; i++) {
        may = made->letter == 'n' && seen->arguments[i].remembered;
    }
    return may;
}

// A result None is recorded in full where an argument may have been written to.
static int is_plain_result(PyObject *result, call_values *seen) {
    for (int i = 0; result == Py_None && i < seen->count; i++) {
        if (seen->arguments[i].remembered) {
            return 0;
        }
    }
    return plain_note(&seen->plain, result, PLAIN_RESULT);
}

// np.copyto(destination, source): returns None, and an argument now holds another one's elements.
static void write_filled(const call_values *seen, uint16_t depth) {
    for (int i = 0; i < seen->count; i++) {
        call_value now[REPORTED_SPANS_MAX];
        if (!seen->arguments[i].remembered) {
            continue;
        }
        value_kind_at(seen->arguments[i].object, now);
        uint32_t written = samples_written(&seen->arguments[i], &now[0]);
        uint32_t mask = written ? compared_written(&now[0], seen) : 0;
        if (mask & SAMPLES_EQUAL) {
            write_span(&now[0], EVENT_FLAG_OUTPUT, depth, mask | written);
            losses_write(&now[0], seen, depth);
        } else if (now[0].has_span && seen->plain.count) {
            losses_filled(&now[0], &seen->plain, depth);
        }
    }
}

// Writes the further blocks of objects that have more than are kept (a table of many columns), after the
// other records. The last block of an object says whether there are still more.
static __attribute__((noinline)) void write_further(const call_value *seen, int count, int flags,
                                                    uint16_t depth) {
    for (int i = 0, first = 0; i < count; i++) {
        first = seen[i].further ? first : i;
        int is_last = i + 1 == count || !seen[i + 1].further;
        if (!is_last || !seen[i].is_reported || !(seen[i].span.flags & SPAN_MORE)) {
            continue;
        }
        _owned_ PyObject *rows = reported_further(seen[i].object, i - first + 1); // owned
        call_value block = seen[i];
        for (int at = 0; reported_further_span(rows, at, &block.span); at++) {
            write_span(&block, flags, depth, 0);
        }
    }
}

static int has_further(const call_value *seen, int count) {
    int has = 0;
    for (int i = 0; i < count; i++) {
        has |= seen[i].is_reported && seen[i].span.flags & SPAN_MORE;
    }
    return has;
}

static int write_call(const event *record, int failed, int arguments) {
    event *kept = ring_open();
    if (!kept) {
        return 0;
    }
    *kept = *record;
    kept->flags |= EVENT_FLAG_DEEP | (failed ? EVENT_FLAG_ERROR : 0);
    kept->aux = (uint64_t)arguments;
    ring_commit();
    return 1;
}

static void write_call_values(call_convention convention, const uintptr_t words[5], uintptr_t result,
                              event *record, call_values *seen) {
    int failed = has_failed(convention, result);
    int has_object = !failed && convention != CALL_BUFFER;
    int arguments = seen->count + (int)seen->plain.count;
    call_value made[REPORTED_SPANS_MAX]; // filled before the first record, as adapters may open records
    int count =
        has_object && !is_plain_result(OBJECT(result), seen) ? value_kind_at(OBJECT(result), made) : 0;
    if (may_have_copied(count ? made : NULL, seen)) {
        report_pending(seen);
        record->val = (uint64_t)seen->left_out;
    }
    if (count && made[0].has_span) {
        samples_mark_shapes(&made[0], seen);
    }
    if (!write_call(record, failed, arguments)) {
        return;
    }
    for (int i = 0; i < seen->count; i++) {
        write_seen(&seen->arguments[i], 0, record->depth, 0);
    }
    plain_write(&seen->plain, record->depth);
    if (convention == CALL_BUFFER && !failed) {
        write_buffer((const Py_buffer *)words[1], record->depth);
    }
    for (int i = 0; i < count; i++) {
        int has_span = made[i].has_span; // plain values are not compared
        write_seen(&made[i], EVENT_FLAG_OUTPUT, record->depth, has_span ? compared(&made[i], seen) : 0);
        if (has_span) {
            losses_write(&made[i], seen, record->depth);
            losses_filled(&made[i], &seen->plain, record->depth);
        }
    }
    if (count && made[0].letter == 'o' && has_further(seen->arguments, seen->count)) {
        write_further(seen->arguments, seen->count, 0, record->depth);
    }
    if (has_further(made, count)) {
        write_further(made, count, EVENT_FLAG_OUTPUT, record->depth);
    }
    if (count && made[0].letter == 'n' && seen->count + (int)seen->plain.count > 1) {
        write_filled(seen, record->depth);
    }
}

void call_values_after(call_convention convention, const uintptr_t words[5], uintptr_t result, event *record,
                       call_values *seen) {
    int arguments = (int)seen->plain.count;
    if (seen->count || !result || convention == CALL_BUFFER ||
        !plain_note(&seen->plain, OBJECT(result), PLAIN_RESULT)) {
        write_call_values(convention, words, result, record, seen);
    } else if (write_call(record, 0, arguments)) {
        plain_write(&seen->plain, record->depth);
    }
}
